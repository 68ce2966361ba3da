public import CommandLineKit
public import CachePresentation
public import FetchVocabulary

/// A resource that the program knows: `fetch NAME`, `explain NAME`, and its keys in the configuration.
public struct ToolResource: Sendable {
  /// What `fetch` fetches, for its help, such as "a poster".
  let noun: String
  /// The commands. They are made when they are needed: generic ones are types that the runtime has to create.
  let fetch: @Sendable () -> any ParsableCommand.Type
  let explain: @Sendable () -> any ParsableCommand.Type
  let sections: [any ConfigurationSection.Type]
  /// What selects it: the name of the resource, and the type that the author of the program knows it by.
  let options: any ExplainableOptions.Type

  /// The resource that `options` selects, with the keys of `sections`.
  public init<Options: FetchableOptions>(_ options: Options.Type, sections: [any ConfigurationSection.Type] = []) {
    self.init(noun: Options.resourceName, FetchResourceCommand<Options>.self, explain: options, sections)
  }

  /// A resource whose `fetch NAME` does more than show the value.
  init<Options: ExplainableOptions>(
    noun: String, _ fetch: @autoclosure @escaping @Sendable () -> any ParsableCommand.Type,
    explain options: Options.Type,
    _ sections: [any ConfigurationSection.Type] = []
  ) {
    (self.noun, self.fetch, self.sections, self.options) = (noun, fetch, sections, options)
    self.explain = { ExplainResourceCommand<Options>.self }
  }
}

/// The options that select what to fetch, for `explain NAME`.
public protocol ExplainableOptions: ParsableArguments {
  associatedtype Value: Sendable

  /// The name of the resource on the command line, in kebab case.
  static var resourceName: String { get }

  /// Fetches the resource through the cache as `options` say, from what `context` has.
  ///
  /// - Throws: `CacheError` if the request makes no sense, or the configuration of the resource is incomplete.
  func snapshots(_ context: ResourceContext, _ options: FetchOptions) throws(CacheError) -> Snapshots<Value>
}

/// The options that select what to fetch, and the view that shows it: all that `fetch NAME` and `explain NAME` need.
public protocol FetchableOptions: ExplainableOptions {
  associatedtype View: SnapshotView

  /// What `fetch NAME` does, in one line without a final full stop.
  static var abstract: String { get }
  /// Further help, such as examples; empty by default.
  static var discussion: String { get }

  /// The view of `snapshot`, which came from the origin or from the store of the engine called `backend`.
  func view(of snapshot: Snapshot<Value>, backend: String) -> View
}

extension FetchableOptions {
  /// No further help.
  public static var discussion: String { "" }
}
