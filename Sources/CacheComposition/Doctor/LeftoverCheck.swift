internal import CachePresentation

/// Looks for what is of no use any more in the folders of stores.
struct LeftoverCheck: Sendable {
  let files: any FileInspection

  /// What is left over in `home`, and in the folders of the stores that were found.
  func findings(home: String, stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    // Files are set aside where they were: beside a store of one file, within a store that is a folder.
    let paths = stores.compactMap(\.result.path)
    let folders = Set([home] + paths + paths.map(SystemFileInspection.parent)).sorted()
    return usage(home, stores) + folders.flatMap(setAside)
  }

  /// The files that tell of the use of a store that is gone.
  private func usage(_ home: String, _ stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    // Those called after the engine are of a store without a path, or of an earlier version.
    let bases = stores.filter { $0.result.exists != false }.flatMap { ["\(home)/\($0.name)", $0.result.path ?? ""] }
    let kept = Set(bases.flatMap { base in UsageFiles.suffixes.map { base + $0 } })
    let found = files.names(in: home).filter { name in UsageFiles.suffixes.contains { name.hasSuffix($0) } }
    return found.filter { !kept.contains("\(home)/\($0)") }.map { name in
      .warning("usage", "\(home)/\(name) tells of the use of a store that is not there", hint: "rm \(home)/\(name)")
    }
  }

  /// What repairs have set aside.
  private func setAside(_ folder: String) -> [Finding] {
    let names = files.names(in: folder).filter { $0.contains(".damaged-") }
    guard let first = names.first else { return [] }
    let count = NumberText.count(names.count, "damaged file", "damaged files")
    return [
      .warning(
        "set aside", "\(folder) has \(count) that a repair has set aside, such as \(first)",
        hint: "remove what you have no more use for")
    ]
  }
}
