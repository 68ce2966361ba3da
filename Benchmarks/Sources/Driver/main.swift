internal import Platform
internal import StorageBenchmark
internal import StorageSPI

// The project's side of the tables, and the comparison of both sides. Arguments:
//   run ENGINE WORKLOAD STORE DIVISOR   does a workload through `any StorageEngine`; ENGINE is sqlite, lmdb, memory
//                                       or the path of a library
//   trace WORKLOAD FILE DIVISOR         writes the workload for the programs in Floor
//   puts ENGINE LABEL ENTRIES COUNT ROUNDS FOLDER
//                                       measures puts into a full store beside one with room, and prints rows
//   uses ENGINE LABEL ENTRIES ROUNDS FOLDER
//                                       measures reads whose use is recorded, by one thread and by two
//   lru TRACE CAPACITY FILE DIVISOR     writes a generated trace for `cachectl simulate`, and prints the hit ratio of
//                                       exact LRU in a cache of CAPACITY entries
//   compare METRIC[,METRIC...] LABEL ROUNDS TARGET [fresh TEMPLATE STORE] -- FLOOR... -- PROJECT...
//                                       measures two programs in turns, and prints rows of a Markdown table

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch (arguments.first, arguments.count, arguments.last.flatMap { Int($0) }) {
  case ("run", 5, let divisor?): try await run(arguments[2], Store(engine: arguments[1], path: arguments[3]), divisor)
  case ("trace", 4, let divisor?): try workload(arguments[1], divisor).write(to: arguments[2])
  case ("puts", 7, _):
    let store = try FullStore(arguments[1], entries: number(arguments[3]), folder: arguments[6])
    for line in try await store.puts(arguments[2], count: number(arguments[4]), rounds: number(arguments[5])) {
      print(line)
    }
  case ("uses", 6, _):
    let store = try FullStore(arguments[1], entries: number(arguments[3]), folder: arguments[5])
    print(try await store.uses(arguments[2], rounds: number(arguments[4])))
  case ("lru", 5, let divisor?):
    guard let generated = GeneratedTrace(rawValue: arguments[1]) else {
      throw Row.Mistake(message: "there is no trace '\(arguments[1])'")
    }
    let trace = LookUps(generated, divisor: divisor)
    try trace.write(to: arguments[3])
    let capacity = try number(arguments[2]) / divisor
    print(Double(trace.hits(ofLeastRecentlyUsed: capacity)) / Double(trace.keys.count))
  case ("compare", 2..., _): for line in try Row(arguments: Array(arguments.dropFirst())).measured() { print(line) }
  default: throw Row.Mistake(message: "run, trace, puts, uses, lru or compare needed")
  }
} catch {
  let line = Array("Driver: \(error)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(error is Row.Mistake ? 64 : 1)
}

func run(_ name: String, _ store: Store, _ divisor: Int) async throws {
  if name == "create" { return try await store.open().close() }
  if let typed = TypedHits.Kind(rawValue: name) { return try await TypedHits.run(typed, store, divisor: divisor) }
  if let calls = DoorCalls.Kind(rawValue: name) { return try await DoorCalls.run(calls, store, divisor: divisor) }
  try await workload(name, divisor).run(store)
}

func workload(_ name: String, _ divisor: Int) throws -> StoreWorkload {
  guard let workload = try StoreWorkload(named: name, divisor: divisor) else {
    throw Row.Mistake(message: "there is no workload '\(name)'")
  }
  return workload
}

func number(_ text: String) throws -> Int {
  guard let number = Int(text), number > 0 else { throw Row.Mistake(message: "'\(text)' is no number of 1 or more") }
  return number
}
