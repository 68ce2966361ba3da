import Testing

@testable import EngineBenchmark

struct WorkloadCatalogueTests {
  @Test func theBuiltInWorkloadsAreRead() throws {
    let names = ["ycsb-a", "ycsb-b", "ycsb-c", "fill", "read", "typed", "full", "scan", "open"]
    #expect(WorkloadCatalogue.names == names)
    for name in names { #expect(WorkloadCatalogue.workload(named: name)?.name == name) }
    #expect(WorkloadCatalogue.workload(named: "ycsb") == nil)
  }

  /// The core workloads as YCSB publishes them (Cooper et al., "Benchmarking cloud serving systems with YCSB").
  @Test(arguments: [("ycsb-a", 0.5), ("ycsb-b", 0.05), ("ycsb-c", 0)])
  func theCoreWorkloadsAreThePublishedOnes(name: String, updates: Double) throws {
    let workload = try #require(WorkloadCatalogue.workload(named: name))
    #expect(workload.phases.map(\.name) == ["load", "run"])
    #expect(workload.phases[1].kind == .read(updates: updates) && workload.phases[1].isZipfian)
    #expect(workload.valueSize == 1_000)
  }
}
