internal import CachePresentation

/// Looks for what is of no use any more in the folders of stores.
struct LeftoverCheck: Sendable {
  /// The ends of the names of the files beside a store that tell of its use.
  private static let suffixes = [".usage", ".uses"]

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
    let names = stores.filter { $0.result.exists != false }.map(\.name)
    let kept = Set(names.flatMap { name in Self.suffixes.map { name + $0 } })
    let found = files.names(in: home).filter { name in Self.suffixes.contains { name.hasSuffix($0) } }
    return found.filter { !kept.contains($0) }.map { name in
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
