struct ShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show an entry: its metadata and its payload",
    discussion: "The payload is shown if it is text.",
    examples: [
      "cachectl show queries/v1/recent", "cachectl show --raw queries/v1/recent | jq",
      "cachectl show https://example.com/data.json",
    ])

  @Argument(
    help: ArgumentHelp("The key, as `ls` shows it, or the URL that was fetched", valueName: "key|url"),
    completion: .keys)
  var key: String

  @Flag(help: "Write only the bytes of the payload")
  var raw = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let (entry, use) = try await session.withStore { store throws(CacheError) in try await Self.entry(key, in: store) }
    if raw { try Console.output.write(entry.payload) } else { try global.show(RecordView(entry, use: use)) }
  }

  /// The entry called `name`, a key or a URL, and how it was used; `nil` if uses are not recorded.
  ///
  /// - Throws: `CacheError`: `notFound` if there is none, `damaged` if it differs from the written one,
  ///   `invalidRequest` if a URL has several.
  static func entry(
    _ name: String, in store: OpenStore
  ) async throws(CacheError) -> (entry: StoredEntry, use: AccessHistory?) {
    let name = try EntryName(name)
    var key: CacheKey?
    if name.urls.isEmpty {
      key = try CacheKey(name.text)
    } else {
      let entries = try await name.entries(in: store).filter { !$0.metadata.isSignpost }
      guard entries.count < 2 else { throw name.ambiguity(entries) }
      key = entries.first?.key
    }
    guard let key, let entry = try await store.administration.entry(key) else { throw EntryName.notFound(name.text) }
    return (entry, store.entries.isBounded ? try store.entries.uses.histories(of: [key]).first : nil)
  }
}

extension RecordView {
  /// An entry with its payload, and how it was used; `nil` if uses are not recorded.
  ///
  /// The document has the members of `ls`, "uses", "lastUsedAt", "attributes", for an entry with transforms these and
  /// "payloadBytes", and either "payload" (if it is UTF-8) or "payloadBase64". People see JSON indented.
  init(_ entry: StoredEntry, use: AccessHistory?) {
    let (key, metadata, now) = (entry.summary.key, entry.summary.metadata, entry.readAt.sinceEpoch)
    let lastUsedAt = use.flatMap { $0.count > 0 ? $0.lastUsedAt.sinceEpoch : nil }
    var uses = use.map { _ in "never" }
    if let use, let lastUsedAt {
      uses = "\(NumberText.text(Int(use.count))), the last \(RelativeTimeText.past(lastUsedAt, now: now))"
    }
    let members = ScannedEntry.columns(at: entry.readAt).members(of: entry.summary)
    var fields = members.map { Field($0.name, $0.value) }
    let url = StoredURL(key).map { Field(line: "URL", .init($0.text, .bold)) }
    fields +=
      (url.map { [$0] } ?? []) + [
        Field(line: "Key", .init(key.text, url == nil ? .bold : .plain)),
        Field(line: "Namespace", .init(key.namespace)),
        Field(line: "State", metadata.state(at: entry.readAt).cell),
        Field(line: "Stored", .init(past: metadata.storedAt.sinceEpoch, now: now)),
        Field(line: "Fresh until", .init(time: metadata.freshUntil.sinceEpoch, now: now)),
        Field(line: "Kept until", .init(time: metadata.retainUntil.sinceEpoch, now: now)),
        Field(line: "Type", .init(metadata.contentType)), Field(line: "Size", .init(bytes: entry.summary.payloadBytes)),
        Field("uses", JSONValue(use.map { Int($0.count) }), "Uses", .init(uses)),
        Field("lastUsedAt", JSONValue(time: lastUsedAt)), Field("attributes", JSONValue(metadata.attributes)),
      ]
    if let transforms = entry.transforms {
      let text = "\(transforms), of \(ByteCountText.text(entry.payload.count))"
      let names = JSONValue(transforms.split(separator: " ").map { String($0) })
      fields += [
        Field("transforms", names, "Stored by", .init(text)), Field("payloadBytes", .integer(entry.payload.count)),
      ]
    }
    fields += metadata.readableAttributes.map { Field(line: $0.title, .init($0.text)) }
    if let text = String(validating: entry.payload, as: UTF8.self) {
      fields.append(Field("payload", .string(text)))
    } else {
      fields.append(Field("payloadBase64", .string(String(decoding: Base64.encoded(entry.payload), as: UTF8.self))))
    }
    self.init(fields) { _ in "\n" + entry.readablePayload }
  }
}

extension EntryMetadata {
  /// The attributes as people read them: those of the core by their titles, and each header field of a response by its name.
  var readableAttributes: [(title: String, text: String)] {
    let titles = [
      ":status": "HTTP status", ":line": "Protocol", ":transforms": "Transforms", ":hidden": "Hidden fields",
      ":seal": "Seal",
    ]
    return attributes.sorted { $0.key < $1.key }.flatMap { name, value -> [(title: String, text: String)] in
      switch name {
      case ":fields":
        return value.split(separator: "\n").map { line in
          let name = line.prefix { $0 != ":" }
          return (String(name), String(line.dropFirst(name.count + 2)))
        }
      case ":initial-age": return [("Age at arrival", "\(DurationText(milliseconds: Int64(value) ?? 0))")]
      case ":selector":
        return [("Selected by", selectingFields.isEmpty ? value : selectingFields.joined(separator: ", "))]
      case ":variants": return [("Responses", NumberText.text(variantCount ?? 0))]
      default: return [(titles[name] ?? name, value)]
      }
    }
  }
}

extension StoredEntry {
  fileprivate var readablePayload: String {
    guard let text = String(validating: payload, as: UTF8.self) else {
      return "(not text: `show --raw` writes its bytes)\n"
    }
    if text.isEmpty { return "(empty)\n" }
    let type = summary.metadata.contentType
    let isJSON = type.hasPrefix("application/json") || type.holds("+json")
    let safe = TerminalText.block(isJSON ? JSONText.indented(text) ?? text : text)
    return safe.utf8.last == UInt8(ascii: "\n") ? safe : safe + "\n"
  }
}
