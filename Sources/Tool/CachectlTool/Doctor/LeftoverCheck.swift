internal import CacheComposition
internal import Base
internal import CachePresentation

/// Looks for leftovers in the folders of stores.
struct LeftoverCheck: Sendable {
  let files: any FileInspection

  /// The leftovers in `home`, and in the folders of the stores found.
  func findings(home: String, stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    // Repairs set files aside in place: beside a store that is a file, inside a store that is a folder.
    let paths = stores.compactMap(\.result.path)
    let folders = Set([home] + paths + paths.map(SystemFileInspection.parent)).sorted()
    return usage(home, stores) + folders.flatMap(setAside)
  }

  /// The usage files of stores that are gone. A usage file is named after the store beside it, or after the engine if
  /// the store has no path or the file is from an earlier version. Only the server knows whether a store at another
  /// address is gone.
  private func usage(_ home: String, _ stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    let names = files.names(in: home)
    let engines = stores.filter { $0.result.exists != false }.map(\.name)
    let there = Set(names + engines)
    let found = names.filter { name in
      UsageFiles.suffixes.contains { suffix in
        guard name.hasSuffix(suffix) else { return false }
        let store = String(name.dropLast(suffix.count))
        return !there.contains(store) && !engines.contains { UsageFiles.mayBeOnServer(store, $0) }
      }
    }
    return found.map { name in
      .warning("usage", "\(home)/\(name) records the use of a store that no longer exists", hint: "rm \(home)/\(name)")
    }
  }

  /// The files that repairs have set aside.
  private func setAside(_ folder: String) -> [Finding] {
    let names = files.names(in: folder).filter { $0.holds(".damaged-") }
    guard let first = names.first else { return [] }
    let count = NumberText.count(names.count, "damaged file", "damaged files")
    return [
      .warning(
        "set aside", "\(folder) has \(count) that a repair has set aside, such as \(first)",
        hint: "remove what you have no more use for")
    ]
  }
}
