/// The options that select entries.
struct EntryFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Select entries of the namespace NS", valueName: "ns"), completion: .namespaces)
  var namespace: String?

  @Option(help: "Select entries whose key begins with PREFIX")
  var prefix: String?

  @Option(
    help: ArgumentHelp("Select entries whose key matches GLOB, in which * matches any text", valueName: "glob"))
  var match: String?

  @Option(help: "Select entries in this state")
  var state: EntryState?

  /// The conditions as they were given.
  var conditions: [String] {
    let texts = [("namespace", namespace), ("prefix", prefix), ("match", match), ("state", state?.rawValue)]
    return texts.compactMap { name, text in text.map { "--\(name) '\($0)'" } }
  }

  /// The selection, including the condition of `--older-than` if the command has it. An empty prefix or pattern, as an unset
  /// variable of a script leaves it, counts as none: every key begins with an empty prefix, and `rm` would remove
  /// everything unasked.
  func selection(minimumAge: DurationText? = nil) -> EntrySelection {
    EntrySelection(
      namespace: namespace, prefix: prefix == "" ? nil : prefix,
      pattern: match == "" ? nil : match.map { GlobPattern($0) }, state: state, minimumAge: minimumAge?.duration)
  }
}

extension EntryState: ExpressibleByArgument {}

/// How a user names an entry: by its key, or by a URL, for all its responses.
struct EntryName {
  /// The name in messages.
  let text: String
  /// The URL in the form of requests, and the same one with its dot segments (`--path-as-is`), each once; empty for a key.
  let urls: [String]

  /// The name in `argument`. A colon makes it a URL: no key contains one.
  ///
  /// - Throws: `CacheError`: it is neither a key nor a URL of a web server.
  init(_ argument: String) throws(CacheError) {
    if argument.holds("://") {
      text = try HTTPRequest.normalizedURL(argument)
      urls = Array(Set([text, try HTTPRequest.normalizedURL(argument, keepingDots: true)]))
    } else {
      text = try CacheKey(argument).text
      urls = []
    }
  }

  /// The key, or the keys of all entries of the URL that `isWanted` selects.
  func keys(
    in store: OpenStore, where isWanted: (ScannedEntry) -> Bool = { _ in true }
  ) async throws(CacheError) -> [CacheKey] {
    if urls.isEmpty { return [try CacheKey(text)] }
    var keys: [CacheKey] = []
    for prefix in urls.map(URLResponses.keyPrefix(of:)).sorted() {
      let listing = try await store.administration.list(EntrySelection(prefix: prefix), after: nil, limit: .max)
      keys += listing.entries.filter(isWanted).map(\.key)
    }
    return keys
  }

  /// The maximum number of keys in an error message.
  private static let maximumNamed = 10

  /// The error that a name for one entry matches several, those under `keys`.
  func ambiguity(_ keys: [CacheKey]) -> CacheError {
    let names = keys.prefix(Self.maximumNamed).map(\.text) + (keys.count > Self.maximumNamed ? ["..."] : [])
    return CacheError(
      .invalidRequest, "\(text) has \(keys.count) entries, for requests that differ in their header fields",
      hint: "name one by its key: \(names.joined(separator: ", "))")
  }

  /// The error that the key or URL `text` has no entry.
  static func notFound(_ text: String) -> CacheError {
    CacheError(.notFound, "there is no entry \(text)", hint: "see which there are with: cachectl ls")
  }
}
