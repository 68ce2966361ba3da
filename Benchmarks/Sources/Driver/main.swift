internal import CWorkload
internal import Glibc

// Does a workload through `any StorageEngine`, as Floor/floor.h does it with the C library.
// Arguments: sqlite, lmdb or the path of a library; the workload; the store; by what its size is divided.

let arguments = CommandLine.arguments
guard arguments.count == 5, let divisor = Int32(arguments[4]) else { exit(64) }
let store = try Store(engine: arguments[1], path: arguments[3])

if let typed = TypedHits.Kind(rawValue: arguments[2]) {
  try await TypedHits.run(typed, store, divisor: Int(divisor))
} else {
  let load = workload_named(arguments[2], divisor)
  guard load.name != nil else { exit(64) }
  try await StoreWorkload(load, store).run()
}
