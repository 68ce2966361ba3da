internal import CStorageBenchmark
internal import Spelling
public import StorageSPI

/// The built-in workloads.
public enum WorkloadCatalogue {
  /// Their names, in the order of display.
  public static var names: [String] {
    (0..<cstoragebenchmark_workload_count()).map { String(cString: cstoragebenchmark_workload_name($0)) }
  }

  /// All of them, in the same order.
  public static func all() throws(CacheError) -> [Workload] {
    var workloads: [Workload] = []
    for index in 0..<cstoragebenchmark_workload_count() { workloads.append(try workload(at: index)) }
    return workloads
  }

  /// The workload called `name`; `nil` if there is none.
  public static func workload(named name: String) throws(CacheError) -> Workload? {
    guard let index = names.firstIndex(of: name) else { return nil }
    return try workload(at: index)
  }

  /// The name closest to `name`.
  public static func nearestName(to name: String) -> String? { Spelling.nearest(to: name, among: names) }

  /// The file of the workload called `name`, as a start for a new one; `nil` if there is none.
  public static func file(named name: String) -> [UInt8]? { names.firstIndex(of: name).map(bytes) }

  private static func workload(at index: Int) throws(CacheError) -> Workload {
    try WorkloadReader.read(bytes(index), file: names[index] + ".json")
  }

  private static func bytes(_ index: Int) -> [UInt8] {
    Array(
      UnsafeBufferPointer(start: cstoragebenchmark_workload_bytes(index), count: cstoragebenchmark_workload_size(index))
    )
  }
}
