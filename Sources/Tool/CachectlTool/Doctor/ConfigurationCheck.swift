internal import FetchVocabulary
internal import CacheCore
internal import CachePresentation
internal import EngineAPI

/// Checks that the configuration is found and has no mistakes.
struct ConfigurationCheck: Sendable {
  private static let name = "configuration"

  let loader: ConfigurationLoader
  let files: any FileInspection

  /// All `mistakes`, or where the configuration comes from.
  func findings(_ flags: ConfigurationFlags, _ mistakes: [ConfigurationError]) -> [Finding] {
    let problems = mistakes.map { problem in
      Finding.problem(
        Self.name, problem.code == .permissionDenied ? .permissionDenied : .invalidOption, problem.message,
        hint: problem.hint)
    }
    let path = loader.file(flags).path
    let used = files.file(at: path) == nil ? nil : path
    let unsafe = used.map(permissions) ?? []
    let ignored = loader.ignoredVariables.map { Finding.warning(Self.name, $0.message, hint: $0.hint) }
    if !(problems + unsafe).isEmpty { return problems + unsafe + ignored }
    return ignored + [
      .ok(Self.name, used.map { "\($0) is valid" } ?? "no file: every setting has its default")
    ]
  }

  /// A user who may change the file decides where plugins and answers come from.
  private func permissions(_ path: String) -> [Finding] {
    guard let file = files.file(at: path), file.isWritableByOthers else { return [] }
    return [
      .problem(
        Self.name, .permissionDenied, "\(path) can be changed by others (permissions \(file.modeText))",
        hint: "chmod go-w \(path)")
    ]
  }
}

/// Checks that the configured transforms can be used, and that they refuse entries in the clear.
struct TransformCheck: Sendable {
  private static let name = "transforms"

  let container: AppDIContainer

  var findings: [Finding] {
    do throws(CacheError) { try container.requireTransforms() } catch { return [.problem(Self.name, error)] }
    let lenient = container.entryTransforms.written.filter { $0.hidesContent && !$0.isRequired }
    return lenient.map { transform in
      .warning(
        Self.name, "entries that are not \(transform.name) are served too",
        hint: "set transforms.\(transform.name).required to true when all of them are replaced or expired")
    }
  }
}

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
