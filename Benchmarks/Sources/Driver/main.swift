internal import Platform
internal import StorageSPI

// The project's side of the tables, and the comparison of both sides. Arguments:
//   run ENGINE WORKLOAD STORE DIVISOR   does a workload through `any StorageEngine`; ENGINE is sqlite, lmdb, memory
//                                       or the path of a library
//   trace WORKLOAD FILE DIVISOR         writes the workload for the programs in Floor
//   compare METRIC[,METRIC...] LABEL ROUNDS TARGET [fresh TEMPLATE STORE] -- FLOOR... -- PROJECT...
//                                       measures two programs in turns, and prints rows of a Markdown table

let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch (arguments.first, arguments.count, arguments.last.flatMap { Int($0) }) {
  case ("run", 5, let divisor?): try await run(arguments[2], Store(engine: arguments[1], path: arguments[3]), divisor)
  case ("trace", 4, let divisor?): try workload(arguments[1], divisor).write(to: arguments[2])
  case ("compare", 2..., _): for line in try Row(arguments: Array(arguments.dropFirst())).measured() { print(line) }
  default: throw Row.Mistake(message: "run, trace or compare needed")
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
