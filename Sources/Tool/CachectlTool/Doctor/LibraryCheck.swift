internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import StorageSPI

/// Lists the engines that the search path has as libraries. Loads none of them.
struct LibraryCheck: Sendable {
  private static let name = "libraries"

  let catalogue: PluginCatalogue
  let found: FoundLibraries

  var findings: [Finding] {
    let loaded = catalogue.declarations.compactMap { declaration in
      catalogue.path(ofLibrary: declaration.name).map { path in
        Finding.ok(Self.name, "\(path) is loaded: backend \(declaration.name), version \(declaration.version)")
      }
    }
    return loaded + found.usable.map { finding($0, isAmbiguous: found.ambiguous.contains($0.name)) }
      + found.unusable.map(finding(unusable:))
  }

  private func finding(_ library: EngineLibrary, isAmbiguous: Bool) -> Finding {
    guard isAmbiguous else { return .ok(Self.name, "\(library.path) is there, and not loaded") }
    return .warning(
      Self.name, "\(library.path) is not found by its name, which a library in another folder has too",
      hint: "name it by its path, or remove one of them")
  }

  private func finding(unusable library: EngineLibrary) -> Finding {
    .warning(
      Self.name, "\(library.path) is not used: the engine \(library.name) is built in",
      hint: "remove it, or give its engine another name")
  }
}
