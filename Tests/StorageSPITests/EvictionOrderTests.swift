import StorageSPI
import Testing

struct EvictionOrderTests {
  @Test(arguments: [
    (EvictionOrder(.least(.storedAt)), "stored-at"),
    (EvictionOrder(.most(.payloadBytes), .least(.retainUntil)), "-payload-bytes retain-until"),
    (EvictionOrder(.least(.useCount), .least(.lastUsedAt), .most(.storedAt)), "use-count last-used-at -stored-at"),
  ])
  func hasAText(order: EvictionOrder, text: String) {
    #expect(order.text == text)
    #expect(EvictionOrder(text: text) == order)
  }

  @Test(arguments: ["", "-", "age", "stored-at age", "--stored-at", "stored-at stored-at stored-at stored-at"])
  func isNoOrder(text: String) {
    #expect(EvictionOrder(text: text) == nil)
  }

  @Test func leavesOutWhatIsTooMuch() {
    let order = EvictionOrder(.least(.useCount), .least(.lastUsedAt), .least(.storedAt), .least(.retainUntil))
    #expect(order.text == "use-count last-used-at stored-at")
  }
}
