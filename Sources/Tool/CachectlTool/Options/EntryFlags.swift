/// The options that select entries.
struct EntryFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Select entries of the namespace NS", valueName: "ns"), completion: .namespaces)
  var namespace: String?

  @Option(help: "Select entries whose key or URL begins with PREFIX")
  var prefix: String?

  @Option(
    help: ArgumentHelp("Select entries whose key or URL matches GLOB, in which * matches any text", valueName: "glob"))
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
      namespace: namespace, prefix: keyPrefix,
      pattern: match == "" ? nil : match.map { GlobPattern(StoredURL.spelled($0)) }, state: state,
      minimumAge: minimumAge?.duration)
  }

  /// The prefix of the keys. A colon makes `--prefix` the beginning of a URL: no key contains one.
  private var keyPrefix: String? {
    guard let prefix, !prefix.isEmpty else { return nil }
    return prefix.utf8.contains(UInt8(ascii: ":")) ? StoredURL.keyPrefix(ofBeginning: prefix) : prefix
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
      text = try HTTP.Request.normalizedURL(argument)
      urls = Array(Set([text, try HTTP.Request.normalizedURL(argument, keepingDots: true)]))
    } else {
      text = try CacheKey(argument).text
      urls = []
    }
  }

  /// The prefixes of the keys of all entries of the URL; empty for a key.
  var keyPrefixes: [String] { urls.map(URLResponses.keyPrefix(of:)).sorted() }

  /// The key, or the keys of all entries of the URL.
  func keys(in store: OpenStore) async throws(CacheError) -> [CacheKey] {
    urls.isEmpty ? [try CacheKey(text)] : try await entries(in: store).map(\.key)
  }

  /// All entries of the URL; none for a key.
  func entries(in store: OpenStore) async throws(CacheError) -> [ScannedEntry] {
    var entries: [ScannedEntry] = []
    for prefix in keyPrefixes {
      entries += try await store.administration.list(EntrySelection(prefix: prefix), after: nil, limit: .max).entries
    }
    return entries
  }

  /// The maximum number of keys in an error message.
  private static let maximumNamed = 10

  /// The error that a name for one entry matches several, `entries`. It names the header fields that select one of them, and
  /// of each its key, with its content if that differs.
  func ambiguity(_ entries: [ScannedEntry]) -> CacheError {
    let fields = Set(entries.flatMap(\.metadata.selectingFields)).sorted()
    let other = keyPrefixes.count > 1 ? "with and without the dots in its path" : "for different credentials or servers"
    let reason = fields.isEmpty ? other : "selected by \(fields.joined(separator: ", "))"
    let hasContent = Set(entries.map(\.contentText)).count > 1
    let names = entries.prefix(Self.maximumNamed).map { entry in
      hasContent ? "\(entry.key) (\(entry.contentText))" : entry.key.text
    }
    return CacheError(
      .invalidRequest, "\(text) has \(entries.count) entries, \(reason)",
      hint: "show one by its key: \((names + (entries.count > names.count ? ["..."] : [])).joined(separator: ", "))")
  }

  /// The error that the key or URL `text` has no entry.
  static func notFound(_ text: String) -> CacheError {
    CacheError(.notFound, "there is no entry \(text)", hint: "see which there are with: cachectl ls")
  }
}

extension ScannedEntry {
  /// The media type and language of the content.
  fileprivate var contentText: String {
    let language = metadata.readableAttributes.first { $0.title.lowercased() == "content-language" }?.text
    return [metadata.contentType, language ?? ""].filter { !$0.isEmpty }.joined(separator: ", ")
  }
}
