import CommandLineKit
import CachectlTool
import Foundation
import EngineAPI
import Testing

/// The cache and the features on it name no engine: a new one changes none of their files. The libraries and the engines
/// name no command: another program has others.
struct OpenClosedTests {
  static let levels = ["Caching", "Features"]
  /// The libraries that a program uses without the tool.
  static let libraries =
    ["Storage", "Caching"].map { "Sources/\($0)" }
    + ["CacheDomain", "CacheData", "SampleOrigin"].map { "Sources/Features/\($0)" } + ["Plugins"]

  /// The Swift files of a folder of the sources, by name, with their text.
  private static func files(_ level: String) throws -> [(name: String, text: String)] {
    try files(in: "Sources/\(level)")
  }

  private static func files(in folder: String) throws -> [(name: String, text: String)] {
    try files(in: folder) { !$0.contains("Tests/") && !$0.hasSuffix("Package.swift") }
  }

  /// The Swift files below `folder` whose path in it is wanted.
  private static func files(
    in folder: String, where isWanted: (String) -> Bool
  ) throws -> [(name: String, text: String)] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: folder)
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return try paths.filter { $0.hasSuffix(".swift") && isWanted($0) }.map { path in
      (path, try String(contentsOf: folder.appending(path: path), encoding: .utf8))
    }
  }

  /// Where `text` names the engine called `name`. "Memory" is also a word of English, so that of it only what can be
  /// meant for the engine counts: a type or module that begins with it, and the name in quotes.
  private static func namesEngine(_ name: String, in text: String) -> Bool {
    let pattern = name == "memory" ? #"(?i:\bmemory(storage|plugin|engine|options|error)\w*)|"memory""# : "(?i:\(name))"
    return text.range(of: pattern, options: .regularExpression) != nil
  }

  @Test(arguments: levels) func noFileNamesAnEngine(level: String) throws {
    let names = Set(PluginCatalogue.standard.declarations.map(\.name)).union([
      "sqlite", "lmdb", "plist", "redis", "hiredis",
    ])
    // The cache of a test is in memory.
    let files = try Self.files(level).filter { !$0.name.hasPrefix("ResponseCacheTesting/") }
    #expect(files.count >= 20, "the sources were found")
    for file in files {
      for name in names {
        #expect(!Self.namesEngine(name, in: file.text), "\(level)/\(file.name) names \(name)")
        #expect(!Self.namesEngine(name, in: file.name), "\(level)/\(file.name) is named after \(name)")
      }
    }
  }

  /// Returns the lines of code in `text`, without comments, that tell their reader to use a command or a flag.
  private static func commandLines(in text: String) -> [Substring] {
    let commands =
      [CommandGroup].standard.flatMap(\.subcommands).compactMap { $0.configuration.commandName }
      .joined(separator: "|")
    let pattern = #"\bcachectl +(-|(\#(commands))\b)|(^|[\s"'`(])--[a-z]"#
    return text.split(separator: "\n").filter { line in
      !line.drop { $0 == " " }.hasPrefix("//") && line.range(of: pattern, options: .regularExpression) != nil
    }
  }

  @Test(arguments: libraries) func noFileNamesACommandLine(folder: String) throws {
    let files = try Self.files(in: folder)
    #expect(files.count >= 3, "the sources were found")
    // A library points to the tool only if nothing else can save a store.
    for file in files where !file.name.hasSuffix("EntryStore+Opening.swift") {
      #expect(Self.commandLines(in: file.text) == [], "\(folder)/\(file.name)")
    }
  }

  @Test(arguments: [
    (#"hint: "see: cachectl verify""#, true), (#""run cachectl --backend x ls""#, true),
    (#""without --offline")"#, true), (#""--force makes it""#, true), (#""`--force`""#, true),
    ("/// As `cachectl verify` does.", false), (#"static let header = "cachectl plist batch 1""#, false),
    (#""a -- b ---c""#, false),
  ])
  func theRuleFindsACommandLine(text: String, isFound: Bool) {
    #expect(Self.commandLines(in: text).isEmpty != isFound)
  }

  /// A program's name is a parameter of its configuration, also the tool's.
  @Test func noFileOfTheCacheNamesAVariableOfTheTool() throws {
    for file in try Self.files("Caching") {
      let lines = file.text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
      #expect(!lines.contains { $0.contains("CACHECTL_") }, "\(file.name)")
    }
  }

  /// A level imports only the levels below it, and an engine only the lowest level.
  @Test(arguments: [
    ("Sources/Storage", ["Caching", "Features", "Tool"]), ("Sources/Caching", ["Features", "Tool"]),
    ("Sources/Features", ["Tool"]), ("Plugins", ["Caching", "Features", "Tool"]),
  ])
  func noFileImportsALayerAboveIt(folder: String, above: [String]) throws {
    let modules = Set(try above.flatMap { try Self.files($0).map { $0.name.prefix { $0 != "/" } } })
    #expect(modules.contains("CachectlTool"), "the modules were found")
    for file in try Self.files(in: folder) {
      let imports = file.text.matches(of: /(?m)^ *(?:@?\w+ )*import (\w+)/).map(\.output.1)
      #expect(modules.isDisjoint(with: imports), "\(folder)/\(file.name)")
    }
  }

  /// Where `text` imports the C library of one platform.
  private static func importsPlatform(_ text: String) -> Bool {
    text.contains(/(?m)^\s*(@\w+\s+)*(\w+\s+)?import\s+(\w+\s+)?(Glibc|Musl|Bionic|Android|Darwin)(?!\w)/)
  }

  @Test func oneFileImportsThePlatformsLibrary() throws {
    let files = try ["Sources", "Plugins", "Tests"].flatMap { folder in
      try Self.files(in: folder) { !$0.contains(".build/") }.map { (name: "\(folder)/\($0.name)", text: $0.text) }
    }
    #expect(files.count > 500, "the sources were found")
    let importing = files.filter { Self.importsPlatform($0.text) }.map(\.name)
    #expect(importing == ["Sources/Storage/CacheBase/Platform.swift"], "import CacheBase instead")
  }

  @Test(arguments: [
    ("import Glibc", true), ("internal import Glibc", true), ("  internal import Musl\n", true),
    ("@_exported public import Darwin", true), ("import struct Darwin.stat", true), ("import Platform", false),
    ("// import Glibc", false), ("import DarwinStorage", false),
  ])
  func theRuleFindsAPlatform(text: String, isFound: Bool) { #expect(Self.importsPlatform(text) == isFound) }

  @Test func theCatalogueIsTheOnlyFileThatNamesThemAll() throws {
    let naming = try Self.files("Tool").filter { file in
      PluginCatalogue.standard.declarations.allSatisfy { declaration in
        file.text.range(of: "(?i:import \(declaration.name)storage)", options: .regularExpression) != nil
      }
    }
    #expect(naming.map(\.name) == ["CachectlTool/Plugins/PluginCatalogue.swift"])
  }

  @Test(arguments: [
    ("memory", "let x = MemoryPlugin()", true), ("memory", "import MemoryStorage", true),
    ("memory", #"backend == "memory""#, true), ("memory", "/// It counts in memory.", false),
    ("sqlite", "import CSQLite3", true), ("sqlite", "// like SQLite", true), ("lmdb", "LMDBEngine", true),
    ("plist", "PropertyListEncoder", false),
  ])
  func theRuleFindsItsCases(name: String, text: String, isFound: Bool) {
    #expect(Self.namesEngine(name, in: text) == isFound)
  }
}
