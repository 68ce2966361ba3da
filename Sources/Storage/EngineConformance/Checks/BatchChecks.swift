internal import EngineAPI

/// The operations of a batch take effect in order, if all its requirements hold.
enum BatchChecks {
  static let all: [ConformanceCheck] = [
    .script(
      "batch-order", "operations take effect in order, in any number of namespaces",
      [
        apply(), apply(.put("cities/a"), .remove("cities/a")), apply(.put("cities/a", 1)), apply(),
        apply(.remove("cities/a"), .put("cities/a", 2)),
        apply(.put("cities/a", 1), .put("cities/a", 22), .put("cities/a", 333)),
        apply(.put("movies/a", 1), .put("cities/a", 2), .put("posters/a", 3), .put("cities/b", 4), .put("movies/b", 5)),
        apply(.remove("movies/a"), .put("posters/b", 6), .remove("cities/b"), .put("a/a", 7), .put("movies/b", 8)),
      ]),
    .script(
      "batch-of-a-thousand", "a batch may have a thousand operations", isRepeated: false,
      [.apply((0..<1_000).map { .put("cities/\($0)", $0) }), .apply((0..<1_000).map { .remove("cities/\($0)") })]),
    .script(
      "update", "an update changes the metadata in its place among other operations, and keeps the payload",
      [
        apply(
          .put("cities/a", 1), .put("cities/b", 2, size: 0), .put("movies/a", 3, size: 200_000), .put("movies/b", 4)),
        apply(.update("cities/a", 11)), apply(.update("movies/a", 13), .update("cities/b", 12)), .reopen,
        apply(.update("cities/a", 21), .update("movies/a", 23)), .check,
        apply(.put("cities/a", 1), .update("cities/a", 2, from: .checksum(1)), .require("cities/a", .checksum(2))),
        apply(.update("cities/a", 3), .update("cities/a", 4, from: .checksum(3)), .put("movies/a", 9)),
        apply(.update("cities/a", 5), .update("cities/a", 6, from: .checksum(4))),
        apply(.update("movies/a", 7), .put("movies/a", 8, size: 3), .update("movies/a", 10, from: .checksum(8))),
        apply(.update("movies/a", 11), .remove("movies/a"), .remove("cities/b")),
        apply(.remove("cities/a"), .put("cities/a", 12), .update("cities/a", 13, from: .checksum(12))),
        fail([.update("cities/a", 14), .put("cities/b", 1), .update("cities/b", 15), .remove("cities/a")]),
      ]),
    .script(
      "update-conflict", "updating another version than there is, by one bit too, or none is a conflict",
      [
        apply(.put("cities/a", 5), .put("movies/a", 0)), apply(.update("cities/a", 6, from: .other)),
        apply(.update("cities/a", 6, from: .checksum(0))), apply(.update("movies/a", 6, from: .checksum(1 << 63))),
        apply(.update("cities/b", 6, from: .checksum(5))), apply(.update("movies/b", 6, from: .checksum(0))),
        apply(.remove("cities/a"), .update("cities/a", 6, from: .checksum(5))),
        apply(.put("cities/a", 7), .update("cities/a", 6, from: .checksum(5))),
        apply(.put("cities/c", 7), .update("cities/b", 6, from: .checksum(7))),
      ]),
    .script(
      "requirements", "a batch is applied if what it requires holds in its place, and else is a conflict",
      [
        apply(.require("cities/a", .absent)), apply(.require("cities/a", .checksum(0)), .put("cities/a", 7)),
        apply(.require("cities/a", .checksum(1)), .put("cities/a", 7)),
        apply(.require("cities/a", .absent), .put("cities/a", 1)), apply(.require("cities/a", .absent)),
        apply(.require("cities/a", .checksum(1)), .put("cities/a", 2)),
        apply(.require("cities/a", .checksum(1)), .put("cities/a", 3)),
        apply(.require("cities/a", .absent), .put("cities/a", 3)), apply(.remove("cities/a")),
        apply(
          .require("cities/a", .absent), .put("cities/a", 1), .require("cities/a", .checksum(1)), .put("cities/a", 2),
          .require("cities/a", .checksum(2)), .remove("cities/a"), .require("cities/a", .absent), .put("cities/a", 3)),
        apply(.put("cities/a", 4), .require("cities/a", .checksum(3))),
        apply(.remove("cities/a"), .require("cities/a", .checksum(3))),
      ]),
    .script(
      "requirement-bits", "requiring another checksum is a conflict, by one bit too, and so is requiring no entry",
      [
        each([(0, 1), (1, 2), (0, 1 << 63), (.max, .max - 1), (1 << 32, 0), (0, 1 << 32)]) {
          (checksum: UInt64, required: UInt64) in
          [
            apply(.store("cities/a", Entry(payload: [1], metadata: Sample.metadata(checksum)))),
            apply(.require("cities/a", .checksum(required)), .put("cities/a", 7)),
            apply(.require("cities/a", .absent), .put("cities/a", 7)),
          ]
        }
      ]),
    .script(
      "failed-batch", "a batch that fails anywhere changes nothing, however often",
      [
        .apply(present(["cities"])), fail(changes(["cities"]), then: .all([.check, .reopen])),
        each(0..<50) { _ in [.apply(changes(["cities"]) + [.require("absent/a", .other)])] },
        .apply((0...200).map { $0 < 200 ? .put("cities/\($0)", 2, size: 4_000) : .require("cities/0", .checksum(1)) }),
        apply(.put("cities/0", 5)),
      ]),
    .script(
      "failed-batch-of-namespaces", "a batch over several namespaces that fails changes none of them",
      requires: [.atomicBatches],
      [
        .apply(present(["cities", "a", "movies"])),
        fail(changes(["cities", "a", "movies"]), then: .all([.check, .reopen])),
      ]),
  ]

  private static func present(_ namespaces: [String]) -> [Change] {
    namespaces.flatMap { [.put("\($0)/a", 1), .put("\($0)/b", 2), .put("\($0)/c", 3)] }
  }

  /// Operations that overwrite, update, remove and create entries in each of the namespaces.
  private static func changes(_ namespaces: [String]) -> [Change] {
    namespaces.flatMap { name -> [Change] in
      [
        .put("\(name)/a", 99), .remove("\(name)/b"), .put("\(name)/d", 99), .update("\(name)/c", 98),
        .remove("\(name)/a"),
        .put("\(name)/b", 99),
      ]
    }
  }
}
