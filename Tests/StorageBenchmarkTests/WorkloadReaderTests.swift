import StorageSPI
import Testing

@testable import StorageBenchmark

struct WorkloadReaderTests {
  @Test func everySettingIsRead() throws {
    let workload = try Fixtures.read(
      """
      {"name": "own-1", "summary": "mine", "entries": 12, "operations": 34, "keyLength": 20, "payload": "bytes",
       "valueSize": {"uniform": {"minimum": 1, "maximum": 9}},
       "phases": [
        {"name": "load", "kind": "load", "batchSize": 5, "distribution": "sequential", "measured": false},
        {"name": "mixed", "operations": {"read": 0.25, "scan": 0.75}, "distribution": "latest",
         "operationsFactor": 0.5, "scanLength": 3},
        {"name": "more", "kind": "update", "batchSize": 2}
       ]}
      """)
    #expect(workload.name == "own-1" && workload.summary == "mine" && workload.entries == 12)
    #expect(workload.operations == 34 && workload.keyLength == 20 && workload.payload == .bytes)
    #expect(workload.valueSize == .uniform(1...9) && workload.expiringShare == 0 && workload.phases.count == 3)
    let (load, mixed, more) = (workload.phases[0], workload.phases[1], workload.phases[2])
    #expect(load.kind == .load && load.batchSize == 5 && load.distribution == .sequential && !load.isMeasured)
    #expect(mixed.kind == .operations([.read: 0.25, .scan: 0.75]) && mixed.distribution == .latest)
    #expect(mixed.scanLength == .constant(3) && mixed.isMeasured && workload.operations(of: mixed) == 17)
    #expect(more.kind == .operations([.update: 1]) && more.batchSize == 2 && more.distribution == .uniform)
  }

  @Test func whatIsNotSaidHasADefault() throws {
    let workload = try Fixtures.read(#"{"name": "a", "summary": "", "phases": [{"name": "l", "kind": "load"}]}"#)
    #expect(workload.entries == 10_000 && workload.operations == 10_000 && workload.keyLength == 24)
    #expect(workload.valueSize == .constant(1_000) && workload.payload == .bytes)
  }

  @Test(arguments: [
    ("7", SizeDistribution.constant(7)), (#"{"constant": 7}"#, .constant(7)),
    (#"{"zipfian": {"minimum": 0, "maximum": 3}}"#, .zipfian(0...3)),
    (#"{"histogram": [{"size": 1, "weight": 2.5}]}"#, .histogram([.init(size: 1, weight: 2.5)])),
  ])
  func sizesAreNumbersOrDistributions(text: String, expected: SizeDistribution) throws {
    let workload = try Fixtures.read(
      #"{"name": "a", "summary": "", "valueSize": \#(text), "phases": [{"name": "l", "kind": "load"}]}"#)
    #expect(workload.valueSize == expected)
  }

  @Test func aBoundedWorkloadHasSizesAndALimit() throws {
    let workload = try Fixtures.read(
      #"{"name": "a", "summary": "", "entries": 50, "payload": "bounded", "limit": 0.1, "valueSize": 9, "phases": [{"name": "l", "kind": "load"}]}"#
    )
    #expect(workload.valueSize == .constant(9) && workload.payload == .bounded)
    #expect(workload.maximumEntries(processes: 1) == 5 && workload.maximumEntries(processes: 3) == 15)
  }

  /// Each a file, and the place and a part of the message and of the hint.
  @Test(arguments: [
    ("{", "1:2", "expected a key", "JSON"),
    ("[]", "1:1", "the file is a list", "an object"),
    ("{\n \"nam\": \"a\"\n}", "2:2", "the unknown key \"nam\"", "nearest known key is 'name'"),
    (#"{"name": "a", "name": "b"}"#, "1:15", "occurs twice", "JSON"),
    (#"{"name": "a", "summary": ""}"#, "1:1", "has no \"phases\"", "add it"),
    (#"{"name": "A!", "summary": "", "phases": []}"#, "1:10", "name is a text that is not allowed", "lower-case"),
    (#"{"name": "a", "summary": 1, "phases": []}"#, "1:26", "summary is a number", "a text"),
    (#"{"name": "a", "summary": "", "phases": []}"#, "1:40", "phases is a list that is not allowed", "at least one"),
    (
      #"{"name": "a", "summary": "", "entries": 0, "phases": []}"#, "1:41", "entries is a number", "from 1 to 100000000"
    ),
    (#"{"name": "a", "summary": "", "entries": 1.5, "phases": []}"#, "1:41", "entries is a number", "a whole number"),
    (#"{"name": "a", "summary": "", "payload": "bounded", "phases": []}"#, "1:1", "has no \"limit\"", "add it"),
    (#"{"name": "a", "summary": "", "payload": "bounded", "limit": 0}"#, "1:61", "limit is a number", "to 1"),
    (#"{"name": "a", "summary": "", "limit": 0.5, "phases": []}"#, "1:39", "limit has no effect", "remove it"),
    (#"{"name": "a", "summary": "", "keyLength": 4, "phases": []}"#, "1:43", "keyLength", "from 16 to 1024"),
    (
      #"{"name": "a", "summary": "", "payload": "type", "phases": []}"#, "1:41", "\"type\", which is unknown", "'typed'"
    ),
    (
      #"{"name": "a", "summary": "", "valueSize": {"uniform": 3}, "phases": []}"#, "1:55",
      "valueSize.uniform is a number", "an object"
    ),
    (#"{"name": "a", "summary": "", "valueSize": {"unifrom": 3}, "phases": []}"#, "1:44", "\"unifrom\"", "'uniform'"),
    (#"{"name": "a", "summary": "", "valueSize": {}, "phases": []}"#, "1:43", "valueSize", "a number, or an object"),
    (
      #"{"name": "a", "summary": "", "valueSize": {"uniform": {"minimum": 5, "maximum": 4}}, "phases": []}"#, "1:81",
      "valueSize.uniform.maximum", "from 5"
    ),
    (
      #"{"name": "a", "summary": "", "valueSize": {"zipfian": {"minimum": 0, "maximum": 2000000}}, "phases": []}"#,
      "1:55", "valueSize.zipfian", "1048576 sizes"
    ),
    (
      #"{"name": "a", "summary": "", "valueSize": {"histogram": []}, "phases": []}"#, "1:57", "valueSize.histogram",
      "at least one"
    ),
    (
      #"{"name": "a", "summary": "", "valueSize": {"histogram": [{"size": 1, "weight": 0}]}, "phases": []}"#, "1:80",
      "weight", "a number"
    ),
    (#"{"name": "a", "summary": "", "valueSize": 67108865, "phases": []}"#, "1:43", "valueSize", "67108864"),
    (
      #"{"name": "a", "summary": "", "payload": "typed", "valueSize": 3, "phases": []}"#, "1:63",
      "valueSize has no effect", "remove it"
    ),
  ])
  func mistakesNameTheirPlace(text: String, place: String, message: String, hint: String) {
    expectMistake(text, place, message, hint)
  }

  /// Each a second phase, where it stands, and a part of the message and of the hint.
  @Test(arguments: [
    (#"{"name": "x", "kind": "lod"}"#, 22, "\"lod\", which is unknown", "the nearest is 'load'"),
    (#"{"name": "x", "kind": "read", "batchsize": 2}"#, 30, "phases[1] has the unknown key", "'batchSize'"),
    (#"{"name": "x"}"#, 0, "needs one of kind and operations", "one of them"),
    (#"{"name": "x", "kind": "read", "operations": {"read": 1}}"#, 0, "and not both", "one of them"),
    (#"{"name": "x", "operations": {"read": 0.5, "update": 0.4}}"#, 28, "add up to 0.9", "add up to 1"),
    (#"{"name": "x", "operations": {}}"#, 28, "add up to 0", "add up to 1"),
    (#"{"name": "x", "operations": {"read": 1.5}}"#, 37, "operations.read", "from 0.0 to 1.0"),
    (#"{"name": "x", "operations": {"raed": 1}}"#, 29, "\"raed\"", "'read'"),
    (#"{"name": "load", "kind": "read"}"#, 0, "two phases are called load", "a name of its own"),
    (#"{"name": "x", "kind": "expire"}"#, 22, "no entry expires", "'expiring'"),
    (#"{"name": "x", "kind": "load", "distribution": "latest"}"#, 46, "distribution", "uniform or sequential"),
    (#"{"name": "x", "kind": "read", "distribution": "zipf"}"#, 46, "\"zipf\"", "'zipfian'"),
    (#"{"name": "x", "kind": "read", "batchSize": 2}"#, 43, "batchSize has no effect", "remove it"),
    (#"{"name": "x", "kind": "update", "batchSize": 0}"#, 45, "batchSize", "from 1 to 100000"),
    (#"{"name": "x", "kind": "load", "operationsFactor": 2}"#, 50, "operationsFactor has no effect", "remove it"),
    (#"{"name": "x", "kind": "read", "operationsFactor": 0}"#, 50, "operationsFactor", "a number from"),
    (#"{"name": "x", "kind": "read", "scanLength": 2}"#, 44, "scanLength has no effect", "remove it"),
    (#"{"name": "x", "kind": "read", "measured": 1}"#, 42, "measured is a number", "true or false"),
  ])
  func mistakesInAPhaseNameTheirPlace(phase: String, offset: Int, message: String, hint: String) {
    let start = #"{"name": "a", "summary": "", "phases": [{"name": "load", "kind": "load"},"# + "\n  "
    expectMistake(start + phase + "]}", "2:\(3 + offset)", message, hint)
  }

  @Test func theFirstPhaseMustStoreSomething() {
    expectMistake(
      #"{"name": "a", "summary": "", "phases": [{"name": "x", "kind": "read"}]}"#, "1:40", "stores nothing", "load")
  }

  @Test(arguments: [
    (#""payload": "typed""#, #""kind": "update""#), (#""payload": "fetched""#, #""kind": "open""#),
    (#""payload": "kept""#, #""kind": "update""#),
    (#""expiring": 0.5"#, #""operations": {"read": 0.5, "insert": 0.5}"#),
  ])
  func combinationsThatCannotBeDoneAreRefused(setting: String, phase: String) {
    let text =
      #"{"name": "a", "summary": "", \#(setting), "phases": [{"name": "l", "kind": "load"}, {"name": "x", \#(phase)}]}"#
    expectMistake(text, nil, "does what cannot be done where", "load and read")
  }

  private func expectMistake(_ text: String, _ place: String?, _ message: String, _ hint: String) {
    let error = #expect(throws: CacheError.self, "\(text)") { try Fixtures.read(text) }
    guard let error else { return }
    #expect(error.message.hasPrefix("my.json:\(place ?? "")") && error.message.contains(message), "\(error)")
    #expect(error.hint.contains(hint) && error.code.rawValue == "malformed", "\(error)")
  }
}
