internal import EngineAPI

/// An entry is kept until it expires, and removed when the store is compacted.
enum ExpiryChecks {
  static let all: [ConformanceCheck] = [
    .script(
      "expiry",
      "an entry is kept to its last millisecond, then absent or whole, and removed by compacting",
      [
        .compact, .compact, apply(.put("cities/a", 1), .put("movies/a", 1)), advance(61), .compact,
        .advance(milliseconds: Int64(Sample.hour) * 1_000 - 61_001), .compact, .advance(milliseconds: 1),
        apply(.put("cities/b", 3, seconds: 7_200)), .compact, apply(.require("cities/a", .absent)),
      ]),
    .script(
      "expiry-moves", "an entry written or updated again lives as long as it says now",
      [
        .apply(["cities/a", "cities/b", "movies/a", "movies/b"].map { .put($0, 1) }),
        apply(.put("cities/a", 2, seconds: 7_200), .put("movies/a", 2, seconds: 10)),
        apply(.update("cities/b", 2, seconds: 7_200), .update("movies/b", 2, seconds: 10)), advance(10), .compact,
        advance(3_590), .compact,
      ]),
    .script(
      "expiry-of-many", "compacting removes the expired entries and no others",
      [
        .apply((1...50).map { .put("\($0 > 40 ? "movies" : "cities")/\($0)", $0, seconds: $0) }),
        each([1, 19, 1, 24, 5]) { seconds in [advance(seconds), .compact, .reopen] },
      ]),
    .script(
      "expiry-far", "an entry stored in the future is kept, and one without end till the end of time",
      [
        apply(.store("cities/a", entry(storedAt: Sample.start.advanced(by: .seconds(90_000))))), .compact,
        .advance(milliseconds: -Sample.start.milliseconds), .compact,
        apply(.store("cities/b", entry(retainUntil: .distantFuture))),
        .advance(milliseconds: Timestamp.distantFuture.milliseconds - 1), .compact,
      ]),
    ConformanceCheck(
      "compact-gives-space-back", "compacting a store that was emptied makes it smaller", requires: [.persistent]
    ) { context in
      let engine = try await context.open()
      var generator = context.generator()
      let entry = Entry(payload: generator.bytes(65_536), metadata: Sample.metadata())
      let keys = try Sample.keys(64)
      try await engine.put(keys.map { ($0, entry) })
      let before = try await engine.count().storageBytes
      try expect(before >= entry.payload.count, "a store of 4 MiB of noise claims to take up \(before) bytes")
      var batch = WriteBatch()
      for key in keys { batch.remove(key) }
      try await engine.apply(batch)
      try await engine.compact()
      let after = try await engine.count().storageBytes
      try expect(after < before / 2, "the store took up \(before) bytes, and emptied and compacted still \(after)")
      try await context.expectHolds(engine, [:])
    },
  ]

  static func entry(
    storedAt: Timestamp = Sample.start, retainUntil: Timestamp = Sample.metadata().retainUntil
  ) -> Entry {
    Entry(
      payload: [1],
      metadata: EntryMetadata(storedAt: storedAt, freshUntil: storedAt, retainUntil: retainUntil, contentType: ""))
  }
}

/// The count is right, and a check finds no damage.
enum CountChecks {
  static let all: [ConformanceCheck] = [
    .script(
      "count", "the count is right after every kind of change, and no entry expires before its earliestExpiry",
      [
        apply(.put("movies/a", size: 10)), apply(.put("cities/a", size: 5_000), .put("cities/b", size: 0)),
        apply(.put("cities/a", size: 70_000)), apply(.put("posters/a", size: 1, seconds: 1)),
        apply(.update("cities/a", 2), .put("movies/a", size: 3)), apply(.remove("cities/b"), .remove("cities/x")),
        apply(.remove("movies/a")), advance(1), .compact, apply(.remove("cities/a")),
        apply(.put("cities/a", seconds: 500), .put("movies/a", seconds: 9_000)), apply(.put("cities/b", seconds: 400)),
        apply(.update("movies/a", 2, seconds: 300)), apply(.put("cities/a", seconds: 200)),
        apply(.remove("cities/a"), .put("posters/a", seconds: 100)), apply(.remove("posters/a")),
        apply(.put("posters/a", seconds: 50)),
      ]),
    .script(
      "count-of-expired",
      "expired entries are counted until they are removed, and then no earliestExpiry is in the past",
      [
        .apply((0..<40).map { .put("\($0 < 30 ? "cities" : "movies")/\($0)", seconds: $0 * 600 + 1) }),
        each([1, 5_999, 1, 13_999, 4_000]) { seconds in [advance(seconds), .compact, .reopen] },
      ]),
    // Entries that end at 0 or 1 have expired: a server keeps them for a while only.
    .script(
      "count-ends-of-time", "entries at either end of the range of times are counted",
      [
        .advance(milliseconds: 2 - Sample.start.milliseconds),
        each([0, 1, Int64.max]) { end in
          [
            apply(
              .store(
                "cities/\(end)", ExpiryChecks.entry(storedAt: .distantFuture, retainUntil: Timestamp(milliseconds: end))
              )),
            apply(
              .store(
                "movies/\(end)",
                ExpiryChecks.entry(storedAt: Timestamp(milliseconds: 0), retainUntil: Timestamp(milliseconds: end)))),
          ]
        }, .reopen, .advance(milliseconds: Timestamp.distantFuture.milliseconds), .compact,
      ]),
    ConformanceCheck("count-storage-bytes", "a store with an entry takes up space") { context in
      let engine = try await context.open()
      let empty = try await engine.count().storageBytes
      try expect(empty >= 0, "an empty store claims to take up \(empty) bytes")
      var generator = context.generator()
      let payload = generator.bytes(300_000)
      try await engine.put(try CacheKey("cities/a"), entry: Entry(payload: payload, metadata: Sample.metadata()))
      let filled = try await engine.count().storageBytes
      try expect(filled >= payload.count, "a store of \(payload.count) bytes of noise claims to take up \(filled)")
    },
    .script(
      "check-of-intact-store", "a check finds nothing wrong with an intact store", isRepeated: false,
      [
        .check,
        each(Sample.mixedKeys.enumerated()) { number, key in
          [
            apply(.put(key, number, size: number * number * 25), .put("cities/\(number)")),
            apply(number % 3 == 0 ? .remove(key) : .update(key, number)),
          ]
        }, .check, .compact, .check, .reopen, .check,
      ]),
  ]
}

/// The bounds of a batch hold exactly, over the whole store, or nothing changes.
enum BoundsChecks {
  static let all: [ConformanceCheck] = [
    .script(
      "bounds-of-entries", "a batch may fill the store to the last entry and no further", requires: [.bounded],
      [
        apply(.put("cities/a", size: 1), within: .limits(entries: 0)),
        apply(.put("cities/a", size: 0), .put("cities/b", size: 9), within: .limits(entries: 2)),
        apply(.put("cities/c", size: 0), within: .limits(entries: 2)),
        apply(.put("cities/c", size: 0), within: .limits(entries: 3)),
        apply(.put("cities/d", size: 0), .put("cities/e", size: 0), within: .limits(entries: 4)),
      ]),
    .script(
      "bounds-of-bytes", "a batch may fill the store to the last byte of payload and no further", requires: [.bounded],
      [
        apply(.put("cities/a", size: 1), within: .limits(bytes: 0)),
        apply(.put("cities/a", size: 0), within: .limits(bytes: 0)),
        apply(.put("cities/b", size: 70_000), within: .limits(bytes: 70_000)),
        apply(.put("cities/c", size: 5_001), within: .limits(bytes: 75_000)),
        apply(.put("cities/c", size: 5_000), within: .limits(bytes: 75_000)),
      ]),
    .script(
      "bounds", "bounds count what the store holds after the batch, in all namespaces, or nothing changes",
      requires: [.bounded],
      [
        apply(.put("cities/x", size: 2, seconds: 1), .put("movies/x", size: 2, seconds: 1)), advance(1), .compact,
        fill([]), fill(three), .reopen, fill([]), fill([.put("cities/b", size: 1)]), fill([.put("towns/b", size: 1)]),
        fill([.put("cities/a", size: 11)]), fill([.put("cities/a", size: 9)]),
        fill([.put("movies/a", size: 500), .put("movies/a", size: 10)]), fill([.update("cities/a", 2)]),
        fill([.update("movies/a", 2), .put("cities/c", size: 5)]),
        fill([.put("posters/b", size: 10), .remove("movies/absent")]),
        fill([.put("posters/c", size: 11), .remove("movies/a")]),
        fill([.remove("cities/a"), .put("cities/b", size: 10)]),
        fill([.put("cities/d", size: 500), .remove("cities/d")]),
        apply(.remove("cities/b"), .remove("cities/c")), fill(three), fill(many, then: .reopen),
      ]),
    .script(
      "bounds-exempt", "the entries of the exempt namespace are not counted", requires: [.bounded],
      [
        fill([.put("cities/a", size: 10), .put("leasesx/a", size: 1)], exempt: "leases"),
        fill([.put("leases/a", size: 500), .put("leases/b", size: 1)], exempt: "leases"),
        fill([.put("cities/a", size: 9), .put("leases/c", size: 1)], exempt: "leases"),
      ]),
    .script(
      "bounds-lowered", "a store that is too full can be emptied without bounds", requires: [.bounded],
      [
        .apply((0..<6).map { .put("cities/\($0)", size: 10) }), apply(.remove("cities/0"), within: .limits(entries: 2)),
        apply(.put("cities/0", size: 1), within: .limits(bytes: 50)), .apply((0..<4).map { .remove("cities/\($0)") }),
        apply(.put("cities/4", size: 11), .remove("cities/5"), within: .limits(entries: 1, bytes: 11)),
        apply(.put("cities/5", size: 99)),
      ]),
  ]

  private static let three: [Change] = [
    .put("cities/a", size: 10), .put("movies/a", size: 20), .put("posters/a", size: 30),
  ]

  /// Changes of every kind.
  private static let many: [Change] = [
    .put("cities/a", size: 50), .remove("movies/a"), .put("posters/b", size: 70), .update("posters/a", 5),
    .put("a/b", size: 1), .remove("cities/x"),
  ]
}
