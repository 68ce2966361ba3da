internal import CacheCore
internal import CacheData
internal import CachectlTool
internal import EngineAPI
internal import FetchVocabulary
internal import Foundation

@testable internal import HTTPCaching
@testable internal import LMDBStorage
@testable internal import PlistStorage

/// The decoders. Each gets arbitrary bytes. If it can read them, writing and reading the result again must give the
/// same.
enum Decoders {
  typealias Decoder = @Sendable (UnsafeBufferPointer<UInt8>) -> Void

  /// The decoder that the variable FUZZER names.
  static let chosen: Decoder = {
    let name = ProcessInfo.processInfo.environment["FUZZER"] ?? ""
    guard let decoder = all[name] else { fatalError("FUZZER is one of \(all.keys.sorted().joined(separator: " "))") }
    return decoder
  }()

  private static let all: [String: Decoder] = [
    "FuzzPlistFile": plistFile, "FuzzEncodedEntry": encodedEntry, "FuzzLMDBFile": lmdbFile,
    "FuzzConfiguration": configuration, "FuzzStoredPage": storedPage, "FuzzHTTPFields": httpFields,
    "FuzzHeadReader": ResponseMessage.check, "FuzzExportedEntry": exportedEntry,
  ]

  /// A file of the plist engine.
  private static func plistFile(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let table = try? PlistFormat.decode(Array(bytes), namespace: "cities", path: "cities.json") else { return }
    let written = PlistFormat.encode(table, namespace: "cities")
    let again = try? PlistFormat.decode(written, namespace: "cities", path: "cities.json")
    precondition(again?.entries == table.entries, "a round trip changed the value")
  }

  /// An entry of an engine that stores bytes.
  private static func encodedEntry(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let entry = EncodedEntry(UnsafeRawBufferPointer(bytes)), let metadata = entry.metadata() else { return }
    let key = entry.key().flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    let written = metadata.encoded(key: key) + Array(entry.payload)
    written.withUnsafeBytes { written in
      let again = EncodedEntry(written)
      precondition(again?.metadata() == metadata, "the metadata is read as something else")
      precondition(again?.payload.elementsEqual(entry.payload) == true, "the payload is read as something else")
    }
  }

  private static let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FuzzLMDBFile-\(getpid())")

  /// A data file of LMDB as the engine checks it before LMDB can see it.
  private static func lmdbFile(_ bytes: UnsafeBufferPointer<UInt8>) {
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? Data(bytes).write(to: folder.appendingPathComponent("data.mdb"))
    guard let file = try? LMDBDataFile(in: folder.path) else { return }
    _ = try? file.check()
    _ = file.format
  }

  /// A configuration file: whatever is in it, there is a configuration or a problem with a place in the file.
  private static func configuration(_ bytes: UnsafeBufferPointer<UInt8>) {
    let bytes = Array(bytes)
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.standard.declarations,
      sections: [CitiesSettings.self, MoviesSettings.self, MovieQueriesSettings.self],
      environment: ["CACHECTL_CONFIG": "/config.json"], workingDirectory: "/", userHome: "/home",
      readFile: { path in path == "/config.json" ? bytes : nil })
    let (configuration, problems) = loader.read()
    precondition(problems.allSatisfy { !$0.message.isEmpty && !$0.message.contains("\n") }, "a problem is not one line")
    precondition((configuration != nil) == problems.isEmpty, "there are problems or a configuration")
  }

  /// A stored page of cities or movies: anybody can have written the content of a store.
  private static func storedPage(_ bytes: UnsafeBufferPointer<UInt8>) {
    var json = JSONReader(Array(bytes))
    _ = try? CitiesPageDTO(json: &json)
    json = JSONReader(Array(bytes))
    _ = try? MoviesPageDTO(json: &json)
  }

  /// The values of header fields: everything that a server can send and the rules of caching read.
  private static func httpFields(_ bytes: UnsafeBufferPointer<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    let now = Duration.seconds(1_700_000_000)
    let control = CacheControl([text])
    _ = (
      control.seconds("max-age"), control.fieldNames("no-cache"), CacheControl(targeted: ["CDN-Cache-Control": text])
    )
    if let time = HTTPDate.time(text, now: now) {
      precondition(HTTPDate.time(HTTPDate.text(time), now: now) == time, "a date is read as something else")
    }
    for length in [0, 1, 10, Int.max] {
      guard let offsets = ByteRange(text)?.offsets(in: length) else { continue }
      precondition(!offsets.isEmpty && offsets.upperBound <= length, "a range is beyond the content")
    }
    _ = (ContentRange(text), EntityTag(text))
  }

  /// A line of an export, which anybody can have written.
  private static func exportedEntry(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let entry = try? ExportedEntry.decode(Array(bytes)) else { return }
    var line: [UInt8] = []
    entry.encode(to: &line)
    precondition((try? ExportedEntry.decode(line)) == entry, "a round trip changed the value")
  }
}

/// Called by libFuzzer, which brings `main`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Decoders.chosen(UnsafeBufferPointer(start: start, count: count))
  return 0
}
