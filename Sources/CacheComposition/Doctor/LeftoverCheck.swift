internal import CachePresentation

/// Looks for what is of no use any more in the folders of stores.
struct LeftoverCheck: Sendable {
  let files: any FileInspection

  /// What is left over in `home`, and in the folders of the stores that were found.
  func findings(home: String, stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    let folders = Set([home] + stores.compactMap { $0.result.path }.map(SystemFileInspection.parent)).sorted()
    return usage(home, stores) + folders.flatMap(setAside)
  }

  /// The counts of use of a store that is gone.
  private func usage(_ home: String, _ stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    let suffix = ".usage"
    let kept = Set(stores.filter { $0.result.exists != false }.map(\.name))
    return files.names(in: home).filter { $0.hasSuffix(suffix) && !kept.contains(String($0.dropLast(suffix.count))) }
      .map { name in
        .warning("usage", "\(home)/\(name) counts the use of a store that is not there", hint: "rm \(home)/\(name)")
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
