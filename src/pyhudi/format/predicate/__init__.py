"""The small filter language: how it is written, what its literals mean for a column, and what bounds can rule out."""

from pyhudi.format.predicate.bounds import Bounds, may_match
from pyhudi.format.predicate.domains import Domain, domains_of, typed
from pyhudi.format.predicate.parser import parse
from pyhudi.format.predicate.syntax import (
    Always,
    And,
    Compare,
    In,
    IsNull,
    Literal,
    Not,
    Operator,
    Or,
    Predicate,
    StartsWith,
    columns,
    negated,
    positive,
)

__all__ = [
    "Always",
    "And",
    "Bounds",
    "Compare",
    "Domain",
    "In",
    "IsNull",
    "Literal",
    "Not",
    "Operator",
    "Or",
    "Predicate",
    "StartsWith",
    "columns",
    "domains_of",
    "may_match",
    "negated",
    "parse",
    "positive",
    "typed",
]
