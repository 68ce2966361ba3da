import StorageSPI
import Testing

@Suite struct EntryTallyTests {
  private static let width = Int64(1) << EntryTally.slotBits

  private func slot(_ namespace: String, _ fresh: Int64, _ retain: Int64) -> EntryTally.Slot {
    EntryTally.Slot(
      namespace: namespace, freshUntil: Timestamp(milliseconds: fresh), retainUntil: Timestamp(milliseconds: retain))
  }

  @Test(
    arguments: [
      (0, 0), (1, 0), (width - 1, 0), (width, 1), (2 * width - 1, 1), (-5, 0),
      (.max, 253_402_300_799_999 / width),
    ] as [(Int64, Int64)])
  func timesFallIntoSlots(milliseconds: Int64, expected: Int64) {
    let time = Timestamp(milliseconds: milliseconds)
    let metadata = EntryMetadata(storedAt: time, freshUntil: time, retainUntil: time, contentType: "")
    let slot = EntryTally.Slot(namespace: "a", metadata)
    #expect((slot.freshSlot, slot.retainSlot) == (expected, expected))
  }

  @Test(
    arguments: [
      (0, .fresh), (width - 1, .fresh), (width, nil), (2 * width - 1, nil), (2 * width, .stale),
      (3 * width - 1, .stale), (3 * width, nil), (4 * width - 1, nil), (4 * width, .expired), (.max, .expired),
    ] as [(Int64, EntryState?)])
  func aSlotIsOfOneStateOutsideItsBorders(milliseconds: Int64, expected: EntryState?) {
    let slot = slot("a", Self.width, 3 * Self.width)
    #expect(slot.state(at: Timestamp(milliseconds: milliseconds)) == expected)
  }

  @Test func theStateOfASlotIsThatOfEachOfItsEntries() {
    let moments = (0...12).map { Timestamp(milliseconds: $0 * Self.width / 3) }
    for fresh in moments {
      for retain in moments {
        let metadata = EntryMetadata(storedAt: moments[0], freshUntil: fresh, retainUntil: retain, contentType: "")
        for now in moments {
          guard let state = EntryTally.Slot(namespace: "a", metadata).state(at: now) else { continue }
          #expect(state == metadata.state(at: now), "\(fresh) \(retain) \(now)")
        }
      }
    }
  }

  @Test func whatIsAddedAndRemovedLeavesNothing() {
    var tally = EntryTally()
    tally.add(slot("a", 0, 0), payloadBytes: 5)
    tally.add(slot("a", 0, 0), payloadBytes: 0)
    tally.add(slot("a", 0, Self.width), payloadBytes: 7)
    tally.add(slot("b", 0, 0), payloadBytes: 1)
    #expect(tally.slots.count == 3)
    #expect(
      tally.namespaces == ["a": .init(entries: 3, payloadBytes: 12), "b": .init(entries: 1, payloadBytes: 1)])
    #expect(tally.total() == .init(entries: 4, payloadBytes: 13))
    #expect(tally.total(except: "a") == .init(entries: 1, payloadBytes: 1))
    #expect(tally.total(except: "c") == tally.total())
    #expect(tally.without("a").namespaces.keys.sorted() == ["b"])
    tally.remove(slot("a", 0, 0), payloadBytes: 5)
    tally.remove(slot("a", 0, 0), payloadBytes: 0)
    tally.remove(slot("a", 0, Self.width), payloadBytes: 7)
    #expect(tally == tally.without("a"))
    tally.remove(slot("b", 0, 0), payloadBytes: 1)
    #expect(tally.isEmpty)
    #expect(tally == EntryTally())
  }

  @Test func aSumOfTalliesIsTheTallyOfAll() {
    var (first, second, both) = (EntryTally(), EntryTally(), EntryTally())
    for number in 0..<40 {
      let slot = slot(["a", "b"][number % 2], Int64(number % 5) * Self.width, Int64(number % 7) * Self.width)
      both.add(slot, payloadBytes: number)
      if number < 20 { first.add(slot, payloadBytes: number) } else { second.add(slot, payloadBytes: number) }
    }
    first.add(second)
    #expect(first == both)
    for (slot, count) in second.slots {
      first.add(.init(entries: -count.entries, payloadBytes: -count.payloadBytes), to: slot)
    }
    #expect(first.total().entries == 20)
  }

  @Test func slotsAreOrderedByNamespaceThenTimes() {
    let slots = [slot("a", 0, 0), slot("a", 0, Self.width), slot("a", Self.width, 0), slot("b", 0, 0)]
    #expect(slots.reversed().sorted() == slots)
  }
}
