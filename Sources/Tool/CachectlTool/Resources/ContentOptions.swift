internal import CacheBase
internal import HTTPCaching
internal import Synchronization

/// The options that give a request its content, spelled as in curl.
struct ContentOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .long, .customLong("data-ascii")],
    help: ArgumentHelp("Send TEXT, or FILE without its line breaks; several are joined with &", valueName: "text|@file")
  )
  var data: [String] = []

  @Option(help: ArgumentHelp("Send TEXT, even if it begins with @", valueName: "text"))
  var dataRaw: [String] = []

  @Option(help: ArgumentHelp("Send TEXT or FILE unchanged", valueName: "text|@file"))
  var dataBinary: [String] = []

  @Option(
    help: ArgumentHelp(
      "Send TEXT or FILE percent-encoded, after NAME= if it is given", valueName: "[name]=text|@file"))
  var dataUrlencode: [String] = []

  @Option(
    help: ArgumentHelp(
      "Send the JSON in TEXT or FILE, and accept JSON; several are joined unchanged", valueName: "text|@file"))
  var json: [String] = []

  @Flag(name: [.customShort("G"), .long], help: "Send the data in the query of the URL")
  var get = false

  func validate() throws(ValidationError) {
    if !json.isEmpty, !texts.isEmpty { throw ValidationError("--json excludes the options for other data") }
    if !json.isEmpty, get { throw ValidationError("--json sends content, and --get sends none") }
  }

  /// Whether the request has content.
  var isContent: Bool { !get && !(texts.isEmpty && json.isEmpty) }

  /// The values of all options but `--json`.
  private var texts: [String] { data + dataRaw + dataBinary + dataUrlencode }

  /// The content in memory; empty if it is a stream.
  ///
  /// - Throws: `CacheError`: `ioFailed` if a file cannot be read; `invalidRequest` if one is larger than 64 MiB.
  func bytes() throws(CacheError) -> [UInt8] {
    guard isContent, streamedFile == nil else { return [] }
    var content: [UInt8] = []
    for text in json { content += try Self.bytes(text) }
    return json.isEmpty ? try form() : content
  }

  /// The content of a single file, which is read while it is sent; `nil` if `bytes` has the content.
  ///
  /// - Throws: `CacheError` with the code `ioFailed`: the file cannot be read.
  func stream() throws(CacheError) -> StreamedContent? {
    guard isContent, let name = streamedFile else { return nil }
    let file = try InputFile(name)
    // Many servers read only content of an announced length, so a pipe is read before it is sent, up to 64 MiB: longer
    // content is sent while it is read.
    let (start, isWhole) = file.length == nil ? try file.beginning(Self.maxFileSize) : ([], false)
    let length = isWhole ? start.count : file.length
    let first = Mutex<[UInt8]?>(start.isEmpty ? nil : start)
    let left = Mutex(length ?? .max)
    // A file that grows meanwhile, such as a log, is sent up to the length it had at the start.
    return StreamedContent(length: length) { () async throws(CacheError) in
      let read = first.withLock { first in
        defer { first = nil }
        return first
      }
      let bytes = if let read { read } else { isWhole ? [] : try await file.next() }
      let sent = left.withLock { left in
        defer { left -= min(left, bytes.count) }
        return bytes.prefix(left)
      }
      return sent.isEmpty ? nil : Array(sent)
    }
  }

  /// `url`, with `--get` with the data in its query.
  ///
  /// - Throws: as `bytes`.
  func applied(to url: String) throws(CacheError) -> String {
    guard get, !texts.isEmpty else { return url }
    let end = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
    let query = url.utf8[..<end].firstIndex(of: UInt8(ascii: "?"))
    let mark = query.map { url.utf8.index(after: $0) == end ? "" : "&" } ?? "?"
    return "\(url[..<end])\(mark)\(String(decoding: try form(), as: UTF8.self))\(url[end...])"
  }

  /// The data as an HTML form sends them.
  private func form() throws(CacheError) -> [UInt8] {
    var parts: [[UInt8]] = []
    for text in data {
      let bytes = try Self.bytes(text)
      // curl takes these out of a file, and only there.
      parts.append(text.hasPrefix("@") ? bytes.filter { ![0x00, 0x0A, 0x0D].contains($0) } : bytes)
    }
    for text in dataRaw { parts.append(Array(text.utf8)) }
    for text in dataBinary { parts.append(try Self.bytes(text)) }
    for text in dataUrlencode { parts.append(try Self.encoded(text)) }
    return Array(parts.joined(separator: "&".utf8))
  }

  /// The file that is sent unchanged and alone.
  private var streamedFile: String? {
    let all = texts + json
    guard all.count == 1, let text = (dataBinary + json).first, text.hasPrefix("@") else { return nil }
    return String(text.dropFirst())
  }

  /// The bytes of `text`, or of the file that it names after an `@`.
  private static func bytes(_ text: String) throws(CacheError) -> [UInt8] {
    guard text.hasPrefix("@") else { return Array(text.utf8) }
    return try InputFile.bytes(
      of: String(text.dropFirst()), limit: maxFileSize, code: .invalidRequest,
      hint: "--data-binary @FILE sends a file of any size")
  }

  /// The content for `--data-urlencode`: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`.
  private static func encoded(_ text: String) throws(CacheError) -> [UInt8] {
    let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) ?? text.utf8.firstIndex(of: UInt8(ascii: "@"))
    guard let sign else { return formEncoded(Array(text.utf8)) }
    let content = text[sign] == "@" ? try bytes(String(text[sign...])) : Array(text[sign...].utf8.dropFirst())
    let name = sign == text.startIndex ? "" : "\(text[..<sign])="
    return Array(name.utf8) + formEncoded(content)
  }

  /// `bytes` as the value of a form: a space is a plus sign.
  private static func formEncoded(_ bytes: [UInt8]) -> [UInt8] {
    Array(
      bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        .map { PercentEncoding.text(Array($0)).utf8 }.joined(separator: "+".utf8))
  }

  /// The largest file that is read whole, in bytes.
  private static let maxFileSize = 64 << 20
}
