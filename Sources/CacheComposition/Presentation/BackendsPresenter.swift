public import CacheDomain
public import CachePresentation
internal import ResponseStorage
internal import StorageConformance
internal import StorageSPI

/// What the catalogue of engines shows, as views.
public struct BackendsPresenter: Sendable {
  private let catalogue: PluginCatalogue

  /// The views of `catalogue`.
  public init(catalogue: PluginCatalogue = .builtIn) {
    self.catalogue = catalogue
  }

  /// The names of all engines.
  public var names: [String] { catalogue.declarations.map(\.name) }

  /// All engines, the one called `selected` marked.
  public func list(selected: String?) -> BackendsView {
    BackendsView(catalogue.declarations.map(BackendRow.init), selected: selected)
  }

  /// The engine called `name`, with its options.
  ///
  /// - Throws: `CacheError` with the code `unknownBackend`.
  public func backend(_ name: String) throws(CacheError) -> BackendView {
    let declaration = try plugin(name).declaration
    return BackendView(BackendRow(declaration), options: declaration.options.map(BackendView.OptionRow.init))
  }

  /// Runs the whole conformance suite over the engine called `name`, on stores below `scratchFolder` only.
  ///
  /// - Parameters:
  ///   - seed: the seed of the random checks.
  ///   - progress: called with the number of checks done, the number of all and the name of the next.
  /// - Throws: `CacheError` with the code `unknownBackend`; that a check fails is no error but part of the view.
  public func test(
    _ name: String, scratchFolder: String, seed: UInt64, progress: (_ done: Int, _ total: Int) -> Void
  ) async throws(CacheError) -> (view: ChecksView, hasFailures: Bool) {
    let plugin = try plugin(name)
    let subject: ConformanceSubject
    do throws(StorageError) {
      subject = try ConformanceSubject(plugin: plugin, scratchFolder: scratchFolder)
    } catch {
      throw CacheError(error)
    }
    var done = 0
    progress(0, ConformanceSuite.checks.count)
    let report = await ConformanceSuite.run(subject, seed: seed) { _ in
      done += 1
      progress(done, ConformanceSuite.checks.count)
    }
    return (
      ChecksView(backend: name, checks: report.outcomes.map(ChecksView.CheckRow.init)), !report.failures.isEmpty
    )
  }

  private func plugin(_ name: String) throws(CacheError) -> any StoragePlugin {
    do throws(StorageError) { return try catalogue.plugin(named: name) } catch { throw CacheError(error) }
  }
}

extension BackendRow {
  fileprivate init(_ declaration: EngineDeclaration) {
    self.init(
      name: declaration.name, version: declaration.version, summary: declaration.summary, path: nil,
      capabilities: declaration.capabilities.map(\.rawValue).sorted())
  }
}

extension BackendView.OptionRow {
  fileprivate init(_ option: EngineOption) {
    self.init(
      name: option.name, type: option.kind.typeName,
      defaultValue: option.defaultValue.map(option.kind.json) ?? .null, help: option.help,
      isRequired: option.isRequired, isSecret: option.isSecret)
  }
}

extension EngineOption.Kind {
  fileprivate var typeName: String {
    switch self {
    case .text: "text"
    case .path: "path"
    case .integer: "integer"
    case .size: "size"
    case .duration: "duration"
    case .boolean: "boolean"
    case .choice(let names): names.joined(separator: "|")
    case .storeName: "name"
    }
  }

  /// The value as the configuration writes it.
  fileprivate func json(_ value: OptionValue) -> JSONValue {
    switch (self, value) {
    case (.size, .integer(let bytes)): .string(ByteSizeText(bytes: bytes).description)
    case (.duration, .integer(let milliseconds)): .string(DurationText(milliseconds: milliseconds).description)
    case (_, .integer(let number)): .integer(Int(number))
    case (_, .text(let text)): .string(text)
    case (_, .boolean(let flag)): .boolean(flag)
    }
  }
}

extension ChecksView.CheckRow {
  fileprivate init(_ outcome: ConformanceOutcome) {
    let result: Result =
      switch outcome.result {
      case .passed: .passed
      case .failed: .failed
      case .skipped: .skipped
      }
    self.init(name: outcome.check.name, result: result, message: outcome.message)
  }
}
