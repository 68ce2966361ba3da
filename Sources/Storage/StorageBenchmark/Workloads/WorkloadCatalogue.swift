internal import CStorageBenchmark
internal import Spelling
public import StorageSPI

/// The built-in workloads.
public enum WorkloadCatalogue {
  /// Their names, in the order of display.
  public static var names: [String] {
    (0..<cstoragebenchmark_workload_count()).map { String(cString: cstoragebenchmark_workload_name($0)) }
  }

  /// The workload called `name`; `nil` if there is none.
  public static func workload(named name: String) throws(CacheError) -> Workload? {
    guard let index = names.firstIndex(of: name) else { return nil }
    let text = String(cString: cstoragebenchmark_workload_text(index))
    return try WorkloadReader.read(Array(text.utf8), file: name + ".json")
  }

  /// The name closest to `name`.
  public static func nearestName(to name: String) -> String? { Spelling.nearest(to: name, among: names) }
}
