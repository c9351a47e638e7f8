// Prints java_small.json: the Bloom filters that Hudi makes of a few keys; then, on standard error, the digest of one
// of default size that has taken more keys than its rows are made for.
// Run with hudi-spark3.5-bundle_2.12-1.2.0.jar on the class path.
import java.security.MessageDigest;
import java.util.HexFormat;
import org.apache.hudi.common.bloom.BloomFilter;
import org.apache.hudi.common.bloom.BloomFilterFactory;

public class JavaBloom {
  static final int[][] KEYS_ENTRIES_MAX = {
    {0, 10, 25}, {1, 10, 25}, {10, 10, 25}, {11, 10, 25}, {25, 10, 25}, {30, 10, 25}, {31, 10, 25}, {32, 10, 25},
    {33, 10, 25}, {34, 10, 25}, {47, 10, 25}, {40, 10, 10}, {40, 10, 11}
  };

  static String key(int i) {
    String[] ends = {"", "é", "日本", "🦊" + i, "ÿ" + i + "ß"};
    return "k" + i + ends[i % 5];
  }

  public static void main(String[] args) throws Exception {
    String comma = "[";
    for (int[] c : KEYS_ENTRIES_MAX) {
      for (String kind : new String[] {"DYNAMIC_V0", "SIMPLE"}) {
        BloomFilter filter = BloomFilterFactory.createBloomFilter(c[1], 1e-3, c[2], kind);
        for (int i = 0; i < c[0]; i++) {
          filter.add(key(i));
        }
        System.out.printf("%s{\"keys\":%d,\"entries\":%d,\"max_entries\":%d,\"kind\":\"%s\",\"text\":\"%s\"}",
            comma, c[0], c[1], c[2], kind, filter.serializeToString());
        comma = ",\n";
      }
    }
    System.out.println("]");
    BloomFilter large = BloomFilterFactory.createBloomFilter(60000, 1e-9, 100000, "DYNAMIC_V0");
    for (int i = 0; i < 120007; i++) {
      large.add(key(i));
    }
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(large.serializeToString().getBytes("US-ASCII"));
    System.err.println(HexFormat.of().formatHex(digest));
  }
}
