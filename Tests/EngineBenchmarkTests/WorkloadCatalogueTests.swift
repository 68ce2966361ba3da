import Testing

@testable import EngineBenchmark

struct WorkloadCatalogueTests {
  @Test func theBuiltInWorkloadsAreRead() throws {
    let names = [
      "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f", "fill", "read", "typed", "typed-repeated",
      "full", "scan", "expire", "open", "articles",
    ]
    #expect(WorkloadCatalogue.names == names)
    for name in names { #expect(WorkloadCatalogue.workload(named: name)?.name == name) }
    #expect(WorkloadCatalogue.workload(named: "ycsb") == nil)
    #expect(WorkloadCatalogue.nearestName(to: "yscb-b") == "ycsb-b")
  }

  /// The core workloads as YCSB publishes them (Cooper et al., "Benchmarking cloud serving systems with YCSB").
  @Test(
    arguments: [
      ("ycsb-a", [.read: 0.5, .update: 0.5], .zipfian), ("ycsb-b", [.read: 0.95, .update: 0.05], .zipfian),
      ("ycsb-c", [.read: 1], .zipfian), ("ycsb-d", [.read: 0.95, .insert: 0.05], .latest),
      ("ycsb-e", [.scan: 0.95, .insert: 0.05], .zipfian), ("ycsb-f", [.read: 0.5, .readModifyWrite: 0.5], .zipfian),
    ] as [(String, [WorkloadOperation: Double], KeyDistribution)])
  func theCoreWorkloadsAreThePublishedOnes(
    name: String, shares: [WorkloadOperation: Double], distribution: KeyDistribution
  ) throws {
    let workload = try #require(WorkloadCatalogue.workload(named: name))
    #expect(workload.phases.map(\.name) == ["load", "run"])
    #expect(workload.phases[1].kind == .operations(shares))
    #expect(workload.phases[1].distribution == distribution)
    #expect(workload.phases[1].scanLength == 1...100)
    #expect(workload.valueSize == 1_000)
  }
}
