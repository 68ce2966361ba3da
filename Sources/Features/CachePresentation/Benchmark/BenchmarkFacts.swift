/// The machine and the settings of a benchmark, as texts for people.
enum BenchmarkFacts {
  private static let labels = [
    "memoryBytes": "main memory", "fileSystem": "file system", "warmUpRounds": "warm-up rounds",
    "targetRate": "target rate",
  ]

  /// The names and the texts of `environment`, without unknown values.
  static func texts(of environment: [JSONValue.Member]) -> [(name: String, text: String)] {
    environment.compactMap { member in
      let text = text(member)
      return text.isEmpty ? nil : (labels[member.name] ?? member.name, text)
    }
  }

  private static func text(_ member: JSONValue.Member) -> String {
    switch (member.name, member.value) {
    case ("memoryBytes", .integer(let bytes)): ByteCountText.text(bytes)
    case ("engines", .array(let engines)): engines.map(engine).joined(separator: ", ")
    default: CSVText.field(member.value)
    }
  }

  /// An engine with its version, and a note if durability has no effect on it.
  private static func engine(_ engine: JSONValue) -> String {
    let texts = ["name", "version"].compactMap { engine[$0].map(CSVText.field) }.joined(separator: " ")
    return engine["hasDurability"] == false ? "\(texts) (without durability)" : texts
  }
}
