import EngineAPI
import EngineConformance
import Foundation
import LMDBStorage
import PlistStorage
import SQLiteStorage
import TestStorage
import Testing

/// An engine whose stores are files.
struct FileEngine: Sendable, CustomTestStringConvertible {
  let plugin: any StoragePlugin
  /// The file with the cities, below the path of the store; empty if it is the file at that path.
  let data: String

  var testDescription: String { plugin.declaration.name }
  var isFolder: Bool { !data.isEmpty }

  static let sqlite = FileEngine(plugin: SQLitePlugin(), data: "")
  static let lmdb = FileEngine(plugin: LMDBPlugin(), data: "/data.mdb")
  static let plist = FileEngine(plugin: PlistPlugin(), data: "/cities.json")
  static let all = [sqlite, lmdb, plist]
}

/// Every engine's treatment of the files of its stores, and of files of others.
@Suite struct StoreFileTests {
  /// A folder of a test's own with the path of a store, removed with it.
  fileprivate final class Place {
    let engine: FileEngine
    let folder = NSTemporaryDirectory() + "store-place-\(UUID().uuidString)"
    var path: String { folder + "/store" }
    var data: String { path + engine.data }

    init(_ engine: FileEngine) throws {
      self.engine = engine
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func configuration(at path: String? = nil) throws -> EngineConfiguration {
      var values: [String: OptionValue] = ["path": .text(path ?? self.path)]
      if engine.plugin.declaration.options.contains(.busyTimeout) { values["busyTimeout"] = .integer(0) }
      return try EngineConfiguration(
        for: engine.plugin.declaration, values: values, clock: ManualClock(Timestamp(milliseconds: 2)))
    }

    func open(at path: String? = nil) async throws -> any StorageEngine {
      try await engine.plugin.open(configuration(at: path))
    }

    /// Makes a store with one entry, and closes it.
    func fill(at path: String? = nil) async throws {
      let store = try await open(at: path)
      try await store.apply(.putting("cities/a"))
      try await store.close()
    }

    /// The names, kinds and contents of everything in the folder. Files that processes share while a store is open may
    /// change.
    func contents() throws -> [String: String] {
      var found: [String: String] = [:]
      for name in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
        var status = stat()
        #expect(lstat("\(folder)/\(name)", &status) == 0)
        let isShared = name.hasSuffix("-shm") || name.hasSuffix("lock.mdb")
        let content =
          status.st_mode & S_IFMT == S_IFREG && !isShared
          ? FileManager.default.contents(atPath: "\(folder)/\(name)") : nil
        found[name] = "\(status.st_mode) \(content?.base64EncodedString() ?? "")"
      }
      return found
    }
  }

  @Test(arguments: FileEngine.all)
  func aNewStoreIsForTheUserAlone(engine: FileEngine) async throws {
    let place = try Place(engine)
    try await place.fill(at: place.folder + "/a/b/store" + (engine.isFolder ? "/" : ""))
    #expect(FileManager.default.fileExists(atPath: place.folder + "/a/b/store" + engine.data))
    for name in FileManager.default.enumerator(atPath: place.folder)?.compactMap({ $0 as? String }) ?? [] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(place.folder)/\(name)")
      let mode = attributes[.type] as? FileAttributeType == .typeDirectory ? 0o700 : 0o600
      #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
    }
  }

  @Test(arguments: FileEngine.all)
  func noStoreIsCreatedInAnImpossiblePlace(engine: FileEngine) async throws {
    let place = try Place(engine)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: place.folder + "/file"))
    let before = try place.contents()
    for path in [place.folder + "/file/store", "/proc/none/store"] {
      #expect(await errorCode { try await place.open(at: path).close() } == .cannotCreate, "\(path)")
    }
    #expect(try place.contents() == before)
  }

  @Test(arguments: FileEngine.all)
  func anInspectionAndARemovalOfNothingCreateNothing(engine: FileEngine) async throws {
    let place = try Place(engine)
    let found = try await engine.plugin.inspect(place.configuration())
    #expect(found == StoreInspection(path: place.path, files: [], format: nil, currentFormat: 1))
    for suffix in [nil, ".damaged"] {
      #expect(try await engine.plugin.removeStore(place.configuration(), movingAside: suffix) == [])
    }
    #expect(try place.contents().isEmpty)
  }

  @Test(arguments: FileEngine.all)
  func anInspectionAndReadsLeaveEveryFileAsItWas(engine: FileEngine) async throws {
    let place = try Place(engine)
    try await place.fill()
    let before = try place.contents()
    let found = try await engine.plugin.inspect(place.configuration())
    #expect((found.path, found.format, found.currentFormat) == (place.path, 1, 1))
    #expect(found.files.contains(place.data) && found.files.allSatisfy(FileManager.default.fileExists))
    #expect(try place.contents() == before)
    let store = try await place.open()
    for (key, isThere) in [("cities/a", true), ("cities/b", nil), ("movies/a", nil)] as [(String, Bool?)] {
      #expect(try await store.read(CacheKey(key), { _, _ in true }) == isThere)
    }
    #expect(try await store.scan(ScanRequest(includesPayloads: true)).entries.count == 1)
    #expect(try await store.check() == [])
    try await store.close()
    #expect(try place.contents() == before)
  }

  /// It is not altered until then, and takes the mark along: without one it would belong to someone else.
  @Test(arguments: FileEngine.all, ["", "this is no store", String(repeating: "x", count: 9_000)])
  func aStoreThatCannotBeReadIsRemovedOrMovedAside(engine: FileEngine, content: String) async throws {
    for suffix in [nil, ".damaged"] {
      let place = try Place(engine)
      try await place.fill()
      try Data(content.utf8).write(to: URL(fileURLWithPath: place.data))
      let refused = await errorCode {
        let store = try await place.open()
        _ = try await store.scan(ScanRequest())
      }
      #expect(refused == .damaged)
      #expect(FileManager.default.contents(atPath: place.data) == Data(content.utf8))
      let moved = try await engine.plugin.removeStore(place.configuration(), movingAside: suffix)
      #expect(moved.isEmpty == (suffix == nil))
      if let aside = moved.first {
        #expect(FileManager.default.contents(atPath: aside + engine.data) == Data(content.utf8))
        #expect((engine.isFolder ? StoreMark(inFolder: aside) : StoreMark(ofFile: aside)).isPresent)
      }
      #expect(!FileManager.default.fileExists(atPath: place.data))
      let store = try await place.open()
      #expect(try await store.check().isEmpty)
      #expect(try await store.count().entries == 0)
      try await store.close()
    }
  }

  /// The files of the third engine may be removed under a handle, which then has an empty store.
  @Test(arguments: [FileEngine.sqlite, .lmdb])
  func aStoreThatIsOpenStays(engine: FileEngine) async throws {
    let place = try Place(engine)
    let store = try await place.open()
    try await store.apply(.putting("cities/a"))
    for suffix in [nil, ".damaged"] {
      #expect(
        await errorCode { _ = try await engine.plugin.removeStore(place.configuration(), movingAside: suffix) } == .busy
      )
    }
    #expect(try await store.check() == [])
    #expect(try await store.count().entries == 1)
    try await store.close()
    #expect(try await engine.plugin.removeStore(place.configuration(), movingAside: nil) == [])
    #expect(!FileManager.default.fileExists(atPath: place.data))
  }

  /// Someone else's content at the path of a store.
  enum Foreign: CaseIterable {
    case project, text, longText, program, json, emptyJSON, uses, linkToFile, linkToNothing, linkToItself, otherKind,
      pipe

    fileprivate func make(_ place: Place) throws {
      let files = FileManager.default
      if place.engine.isFolder, ![.linkToFile, .linkToNothing, .linkToItself, .otherKind].contains(self) {
        try files.createDirectory(atPath: place.path, withIntermediateDirectories: false)
      }
      switch self {
      case .project:
        if !place.engine.isFolder { try files.createDirectory(atPath: place.path, withIntermediateDirectories: false) }
        try write(#"{"name": "app"}"#, to: place.path + "/package.json")
      case .text: try write("mine\n", to: place.path + (place.engine.isFolder ? "/notes" : ""))
      case .longText: try write(String(repeating: "thesis\n", count: 15_000), to: place.data)
      case .program: try write("\u{7F}ELF\u{2}\u{1}\u{1}" + String(repeating: "\0", count: 9_000), to: place.data)
      case .json: try write(#"{"format": 1, "restore": {"cities/1": {}}}"#, to: place.data)
      case .emptyJSON: try write("{}", to: place.data)
      case .uses: try write("mine", to: place.path + (place.engine.isFolder ? "/store.uses" : ""))
      case .linkToFile:
        try write("precious", to: place.folder + "/precious")
        try files.createSymbolicLink(atPath: place.path, withDestinationPath: place.folder + "/precious")
      case .linkToNothing:
        try files.createSymbolicLink(atPath: place.path, withDestinationPath: place.folder + "/disk/x")
      case .linkToItself: try files.createSymbolicLink(atPath: place.path, withDestinationPath: place.path)
      case .otherKind:
        if place.engine.isFolder {
          try write("mine", to: place.path)
        } else {
          try files.createDirectory(atPath: place.path, withIntermediateDirectories: false)
        }
      case .pipe: #expect(mkfifo(place.data, 0o600) == 0)
      }
    }

    private func write(_ text: String, to path: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
  }

  @Test(arguments: FileEngine.all, Foreign.allCases)
  func filesOfSomeoneElseAreRefusedAndLeftAlone(engine: FileEngine, foreign: Foreign) async throws {
    let place = try Place(engine)
    try foreign.make(place)
    let before = try place.contents()
    #expect(await errorCode { try await place.open().close() } == .cannotCreate)
    #expect(await errorCode { _ = try await engine.plugin.inspect(place.configuration()) } == .cannotCreate)
    for suffix in [nil, ".damaged"] {
      let refused = await errorCode {
        _ = try await engine.plugin.removeStore(place.configuration(), movingAside: suffix)
      }
      #expect(refused == .cannotCreate)
    }
    #expect(try place.contents() == before)
  }
}
