import Foundation
import Testing

/// `verify`, with and without `--repair`, on the files of real stores.
@Suite struct VerifyTests {
  /// A store with a page of cities, a search and its query, and the paths of its files.
  private struct Store {
    let scratch: Scratch
    let engine: String

    init(_ engine: String) async throws {
      self.engine = engine
      scratch = try Scratch()
      for command in [["cities"], ["movies", "--query", "heat"]] {
        expectSuccess(try await scratch.cachectl(["--backend", engine, "fetch"] + command))
      }
    }

    /// The file that holds the page of cities.
    var file: String {
      switch engine {
      case "sqlite": "home/cache.sqlite"
      case "lmdb": "home/lmdb/data.mdb"
      default: "home/plist/cities.json"
      }
    }

    func run(_ arguments: String...) async throws -> Run {
      try await scratch.cachectl(["--backend", engine] + arguments)
    }

    /// Writes over the file in place, as a medium that fails does.
    func damage(_ change: (inout Data) -> Void) throws {
      var data = try scratch.read(file)
      change(&data)
      let handle = FileHandle(forUpdatingAtPath: scratch.path(file))
      try handle?.write(contentsOf: data)
      try handle?.truncate(atOffset: UInt64(data.count))
      try handle?.close()
    }

    /// Changes one letter of a city's name everywhere in the file.
    func changeALetter() throws {
      try damage { data in
        let (name, other) = (Data("LOUISVILLE".utf8), Data("LOUISVILLF".utf8))
        var found = 0
        while let range = data.range(of: name) {
          data.replaceSubrange(range, with: other)
          found += 1
        }
        #expect(found > 0, "the file contains the payload as text")
      }
    }
  }

  /// As printed it acts on the store of the command line, and not on the one of the environment.
  @Test func aHintRepeatsTheOptionsThatNameTheStore() async throws {
    let store = try await Store("sqlite")
    try store.changeALetter()
    let scratch = store.scratch
    let home = scratch.path("the user's home")
    try FileManager.default.moveItem(atPath: scratch.home, toPath: home)
    let options = ["--home=\(home)", "--set", "cache.maxEntries=7", "--backend", "sqlite"]
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let run = try await scratch.cachectl(options + ["show", Contract.citiesKey])
    let start = try #require(run.errors.range(of: "remove it with: "), "\(run.errors)")
    let command = run.errors[start.upperBound...].prefix { $0 != ";" }
    #expect(
      command.hasPrefix("cachectl --home '") && command.contains(" --set cache.maxEntries=7 --backend sqlite rm "))
    expectSuccess(try await scratch.shell(String(command)))
    expectSuccess(try await scratch.cachectl("show", Contract.citiesKey))
    expectFailure(
      try await scratch.cachectl(options + ["show", Contract.citiesKey]), status: 66, mentioning: ["' ", "sqlite ls"])
  }

  @Test(arguments: Contract.engines)
  func anIntactStoreHasNoIssues(engine: String) async throws {
    let store = try await Store(engine)
    let count = engine == "memory" ? 0 : 3
    let json = try await store.run("verify", "--output", "json")
    expectSuccess(json)
    #expect(json.errors.isEmpty)
    let document = try json.document()
    #expect(document.names == ["backend", "entriesChecked", "issues"])
    #expect(document["backend"] == .text(engine) && document["entriesChecked"] == .number(Double(count)))
    #expect(document["issues"] == .list([]))
    let table = try await store.run("verify", "--repair")
    expectSuccess(table)
    #expect(table.output.isEmpty && table.errors.contains("no issues"), "there is nothing to repair")
    #expect(store.scratch.names(below: "home").allSatisfy { !$0.contains("damaged") })
  }

  @Test(arguments: Contract.persistentEngines)
  func aChangedLetterIsFoundInItsEntry(engine: String) async throws {
    let store = try await Store(engine)
    try store.changeALetter()
    let damaged = try store.scratch.read(store.file)
    let run = try await store.run("verify", "--output", "json")
    #expect(run.status == 65, "\(run.errors)")
    let document = try run.document()
    #expect(document["entriesChecked"] == 3)
    #expect(document["issues"]?.elements.map { $0["key"] } == [.text(Contract.citiesKey)], "\(run.text)")
    #expect(document["issues"]?.elements.map { $0["kind"] } == ["checksumMismatch"])
    #expect(document["issues"]?.elements.allSatisfy { $0.names == ["key", "kind", "message"] } == true)
    #expect(try store.scratch.read(store.file) == damaged, "a check changes nothing")
    expectSuccess(try await store.run("ls"))
    expectFailure(try await store.run("show", Contract.citiesKey), status: 65, mentioning: [Contract.citiesKey])
    let table = try await store.run("verify")
    #expect(table.status == 65)
    #expect(table.text.hasPrefix("Issue") && table.text.contains(Contract.citiesKey))
    #expect(table.errors.contains("3 entries of \(engine) checked · 1 issue"))
  }

  /// Whether `data` is the content of one of the files at `paths`, or in a folder there.
  private func holds(_ data: Data, _ paths: [String]) -> Bool {
    paths.contains { path in
      let inside = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return ([path] + inside.map { "\(path)/\($0)" }).contains { FileManager.default.contents(atPath: $0) == data }
    }
  }

  /// The process that reads the store cannot read the pipe again.
  @Test func aRepairWithAConfigurationFromAPipeSavesTheSame() async throws {
    let store = try await Store("plist")
    try store.changeALetter()
    let line = #"echo '{"backend": "plist"}' | "$0" --config /dev/stdin verify --repair --output json"#
    let run = try await store.scratch.run("/bin/sh", ["-c", line, Binary.path])
    #expect(run.status == 65, "\(run.errors)")
    #expect(try run.document()["repair"]?["saved"] == 2, "\(run.text)")
  }

  @Test(arguments: Contract.persistentEngines)
  func aRepairSavesIntactEntries(engine: String) async throws {
    let store = try await Store(engine)
    try store.changeALetter()
    let damaged = try store.scratch.read(store.file)
    let names = store.scratch.names(below: "home")
    let dryRun = try await store.run("verify", "--repair", "--dry-run", "--output", "json")
    #expect(dryRun.status == 65)
    let preview = try dryRun.document()["repair"]
    #expect(preview?["dryRun"] == .boolean(true) && preview?["saved"] == 2 && preview?["movedTo"] == .list([]))
    #expect(preview?["lost"]?.elements.map { $0["key"] } == [.text(Contract.citiesKey)])
    #expect(store.scratch.names(below: "home") == names, "a dry run makes nothing")
    #expect(try store.scratch.read(store.file) == damaged, "a dry run changes nothing")
    let run = try await store.run("verify", "--repair", "--output", "json")
    let document = try run.document()
    #expect(run.status == 65, "an entry was lost: \(run.errors)")
    #expect(document.names == ["backend", "entriesChecked", "issues", "repair"])
    #expect(document["entriesChecked"] == 3 && document["issues"]?.elements.count == 1, "the repaired damage")
    let repair = document["repair"]
    #expect(repair?["saved"] == 2)
    #expect(repair?["lost"]?.elements.map { $0["key"] } == [.text(Contract.citiesKey)])
    let moved = repair?["movedTo"]?.elements.compactMap(\.text) ?? []
    #expect(!moved.isEmpty)
    for path in moved {
      #expect(path.contains(/\.damaged-\d{8}T\d{6}Z/), "\(path)")
      #expect(FileManager.default.fileExists(atPath: path), "\(path)")
    }
    #expect(holds(damaged, moved), "the damaged file was changed")
    expectSuccess(try await store.run("verify"))
    expectFailure(try await store.run("show", Contract.citiesKey), status: 66)
    expectSuccess(try await store.run("fetch", "movies", "--query", "heat", "--offline"))
    expectSuccess(try await store.run("fetch", "cities"))
    #expect(try await store.run("fetch", "cities", "--offline", "--output", "json").document()["source"] == "cache")
    let doctor = try await store.run("doctor")
    #expect(doctor.text.contains(".damaged-") && doctor.text.contains("was moved aside as damaged ("), "\(doctor.text)")
  }

  /// The file of uses is moved with the store, and read by the process that reads it.
  @Test(arguments: Contract.persistentEngines)
  func usesSurviveARepair(engine: String) async throws {
    let store = try await Store(engine)
    expectSuccess(try await store.run("fetch", "movies", "--query", "heat"))
    let listed = try await store.run("ls", "--namespace", "movies", "--output", "json").document()
    let key = try #require(listed["entries"]?.elements.first?["key"]?.text)
    let before = try await store.run("show", key, "--output", "json").document()
    #expect(before["uses"] == 1 && Contract.isTimestamp(before["lastUsedAt"]))
    try store.changeALetter()
    #expect(try await store.run("verify", "--repair").status == 65)
    let after = try await store.run("show", key, "--output", "json").document()
    #expect(after["uses"] == 1 && after["lastUsedAt"] == before["lastUsedAt"], "\(after)")
  }

  @Test(arguments: Contract.persistentEngines, [40, 4_096])
  func aRepairWorksOnAStoreThatIsCutOff(engine: String, length: Int) async throws {
    let store = try await Store(engine)
    try store.damage { $0 = $0.prefix(length) }
    let damaged = try store.scratch.read(store.file)
    let before = try await store.run("verify")
    let run = try await store.run("verify", "--repair", "--output", "json")
    #expect(run.status == before.status, "the missing part is lost: \(run.errors)")
    if before.status == 65 {
      let repair = try run.document()["repair"]
      let lost = (repair?["lost"]?.elements ?? []) + (repair?["possiblyLost"]?.elements ?? [])
      #expect(!lost.isEmpty, "\(run.text)")
      let moved = repair?["movedTo"]?.elements.compactMap(\.text) ?? []
      #expect(holds(damaged, moved), "the damaged file was changed")
    }
    expectSuccess(try await store.run("verify"))
    expectSuccess(try await store.run("fetch", "cities", "--refresh"))
    expectSuccess(try await store.run("fetch", "cities", "--offline"))
  }

  /// A later version of the program may read it.
  @Test(arguments: Contract.persistentEngines)
  func aStoreOfALaterVersionIsNeverRepaired(engine: String) async throws {
    let store = try await Store(engine)
    try store.damage { data in
      switch engine {
      case "sqlite": data[63] = 7
      case "lmdb": for page in [0, 4_096] { data[page + 88] = 2 }
      default:
        let version = data.range(of: Data(#""format": 1"#.utf8))
        if let version { data.replaceSubrange(version, with: Data(#""format": 9"#.utf8)) }
      }
    }
    let content = try store.scratch.read(store.file)
    for arguments in [["verify"], ["verify", "--repair"]] {
      let run = try await store.scratch.cachectl(["--backend", engine] + arguments)
      #expect(run.status == 65, "\(run.errors)")
    }
    #expect(try store.scratch.read(store.file) == content)
    #expect(store.scratch.names(below: "home").allSatisfy { !$0.contains("damaged") })
  }

  @Test func aDryRunRequiresARepair() async throws {
    let run = try await Scratch().cachectl("verify", "--dry-run")
    expectFailure(run, status: 64, mentioning: ["--repair"])
  }
}
