"""Writes the tables whose files lie here (PySpark 3.5 with the bundle of Hudi 1.2.0 in the local Maven repository)."""
import os,sys,datetime,decimal
os.environ["TZ"]="UTC"
from pyspark.sql import SparkSession
from pyspark.sql.types import *
JAR=os.path.expanduser("~/.m2/repository/org/apache/hudi/hudi-spark3.5-bundle_2.12/1.2.0/hudi-spark3.5-bundle_2.12-1.2.0.jar")
s=(SparkSession.builder.master("local[2]").config("spark.jars",JAR).config("spark.serializer","org.apache.spark.serializer.KryoSerializer").config("spark.kryo.registrator","org.apache.spark.HoodieSparkKryoRegistrar").config("spark.sql.extensions","org.apache.spark.sql.hudi.HoodieSparkSessionExtension").config("spark.sql.catalog.spark_catalog","org.apache.spark.sql.hudi.catalog.HoodieCatalog").config("spark.ui.enabled","false").config("spark.driver.host","127.0.0.1").config("spark.sql.session.timeZone","UTC").config("spark.driver.extraJavaOptions","-Duser.timezone=UTC").config("spark.sql.shuffle.partitions","2").config("spark.default.parallelism","2").getOrCreate())
s.sparkContext.setLogLevel("ERROR")
sch=StructType([StructField("id",StringType()),StructField("part",StringType()),StructField("ts",LongType()),StructField("b",BooleanType()),StructField("i",IntegerType()),StructField("f",FloatType()),StructField("d",DoubleType()),StructField("s",StringType()),StructField("bin",BinaryType()),StructField("dt",DateType()),StructField("tm",TimestampType()),StructField("tn",TimestampNTZType()),StructField("dec",DecimalType(10,2)),StructField("dec38",DecimalType(38,10)),StructField("sh",ShortType())])
D=decimal.Decimal
def row(i,p,ts): return (f"k{i}",p,ts,i%2==0,i-5,float(i)/2,-float(i),f"s{i}" if i else None,bytes([i,255]),datetime.date(2020,1,1+i),datetime.datetime(2020,1,1,0,0,0,i*1000),datetime.datetime(2020,1,1,0,0,0,i*1000),D("12.34")*i,D("-1.5")*i,i)
for tt in ("COPY_ON_WRITE","MERGE_ON_READ"):
    p="tables/"+tt.lower(); 
    o={"hoodie.table.name":"ref","hoodie.datasource.write.recordkey.field":"id","hoodie.datasource.write.partitionpath.field":"part","hoodie.datasource.write.precombine.field":"ts","hoodie.datasource.write.table.type":tt}
    s.createDataFrame([row(i,"p%d"%(i%2),1) for i in range(10)],sch).write.format("hudi").options(**o).option("hoodie.datasource.write.operation","insert").mode("overwrite").save(p)
    s.createDataFrame([row(i,"p%d"%(i%2),2) for i in range(3)],sch).write.format("hudi").options(**o).mode("append").save(p)
    s.createDataFrame([row(i,"p%d"%(i%2),3) for i in range(2)],sch).write.format("hudi").options(**o).option("hoodie.datasource.write.operation","delete").mode("append").save(p)
    print(s.read.format("hudi").load(p).count())
