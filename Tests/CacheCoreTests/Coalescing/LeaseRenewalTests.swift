import Testing

@testable import CacheCore

struct LeaseRenewalTests {
  /// Opens once, for all who wait for it.
  private let gate = TaskMonitor(false)
  private let pauses = TaskMonitor(0)

  private func opened() async { _ = await gate.wait { $0 ? true : nil } }

  @Test func endingDoesNotWaitForTheNextRenewal() async {
    let renewal = LeaseRenewal(1) {
      await opened()
    } renew: { version in
      version + 1
    }
    let task = Task { await renewal.run() }
    #expect(await renewal.end() == 1)
    gate.set(true)
    await task.value
    #expect(await renewal.end() == 1, "it has not renewed since")
  }

  @Test func endingWaitsForARenewalUnderWay() async {
    let isRenewing = TaskMonitor(false)
    let renewal = LeaseRenewal(1) {
      let isFirst = pauses.withLock { pauses in
        pauses += 1
        return pauses == 1
      }
      if !isFirst { throw CancellationError() }
    } renew: { version in
      isRenewing.set(true)
      await opened()
      return version + 1
    }
    let task = Task { await renewal.run() }
    _ = await isRenewing.wait { $0 ? true : nil }
    let version = Task.immediate { await renewal.end() }
    gate.set(true)
    #expect(await version.value == 2)
    await task.value
  }

  @Test func aLostLeaseHasNoVersion() async {
    let renewal = LeaseRenewal(1) {
    } renew: { _ in
      nil
    }
    await renewal.run()
    #expect(await renewal.end() == nil)
  }
}
