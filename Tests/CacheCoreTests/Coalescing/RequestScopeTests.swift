import EngineAPI
import EngineConformance
import FetchVocabulary
import TestStorage
import Testing
@testable import CacheCore

/// Which coalescer a change ends.
@Suite struct RequestScopeTests {
  private static let city = "cities/v1/origin=sample/page=0"
  private static let url = "url/v1/url=http%3A%2F%2Fa.example%2Fx,variant=any GET/0a1b"

  private static let rows: [(request: String, selection: EntrySelection, isMet: Bool)] = [
    (city, EntrySelection(), true), (city + " 0a1b", EntrySelection(prefix: city), true), (url, EntrySelection(), true),
    (city, EntrySelection(namespace: "cities"), true), (city, EntrySelection(namespace: "url"), false),
    (city, EntrySelection(namespace: "citie"), false), (url, EntrySelection(namespace: "url"), true),
    (city, EntrySelection(namespace: "leases"), false),
    (city, EntrySelection(prefix: "cities/v1/origin=s"), true), (city, EntrySelection(prefix: city), true),
    (city, EntrySelection(prefix: city + "0"), false), (city, EntrySelection(prefix: "movies/"), false),
    (url, EntrySelection(prefix: "url/v1/url=http%3A%2F%2Fa.example%2Fx,"), true),
    (url, EntrySelection(prefix: "url/v1/url=http%3A%2F%2Fa.example%2Fx,variant=77"), true),
    (url, EntrySelection(prefix: "url/v1/url=http%3A%2F%2Fa.example%2Fxy"), false),
    (city, EntrySelection(pattern: GlobPattern("*page=0")), true),
    (city, EntrySelection(pattern: GlobPattern("*page=1*")), false),
    (city, EntrySelection(pattern: GlobPattern(city)), true),
    (url, EntrySelection(pattern: GlobPattern("*a.example*")), true),
    (url, EntrySelection(pattern: GlobPattern("url/*,variant=any")), true),
    (url, EntrySelection(pattern: GlobPattern("*GET*")), false),
    (url, EntrySelection(pattern: GlobPattern("*b.example*")), false),
    (city, EntrySelection(namespace: "cities", prefix: "movies/"), false),
  ]

  @Test(arguments: rows.indices) func aSelectionMeetsTheRequestsForItsKeys(row: Int) throws {
    let (request, selection, isMet) = Self.rows[row]
    #expect(RequestScope(request).meets(selection) == isMet, "\(request), \(selection)")
    let lease = try Lease.key(for: request)
    #expect(Lease.scope(of: lease)?.meets(selection) == isMet, "\(lease)")
  }

  @Test(arguments: [
    (city, city, true), (city + " 0a1b", city, true), (city, city + "/x=1", false),
    (city, "cities/v1/origin=sample", false), (url, "url/v1/url=http%3A%2F%2Fa.example%2Fx,variant=any", true),
    (url, "url/v1/url=http%3A%2F%2Fa.example%2Fx,variant=0123", true),
    (url, "url/v1/url=http%3A%2F%2Fa.example%2Fxy,variant=any", false),
  ])
  func aRequestMayStoreTheEntriesOfItsScope(request: String, key: String, isContained: Bool) throws {
    #expect(RequestScope(request).contains(key) == isContained)
    #expect(try Lease.scope(of: Lease.key(for: request))?.contains(key) == isContained)
  }

  /// An engine keeps a group together, and with it the commit that stores a response and ends its lease.
  @Test(arguments: [city, city + " 0a1b", url, "users/a,b", "url/v1/url=x,variant=any GET/0a,1b"])
  func aLeaseIsInTheGroupOfItsEntry(request: String) throws {
    let key = try CacheKey(String(request.prefix { $0 != " " }))
    #expect(Array(try Lease.key(for: request).group) == Array(key.group))
  }

  /// Whatever its parameters hold.
  @Test(arguments: [("q=", "x"), ("page=1,q=", "x"), ("page=1,q=", "%2C"), ("p=1,", "q=1,")])
  func theLongestKeyOfARequestHasALease(_ start: String, _ more: String) throws {
    let namespace = String(repeating: "n", count: CacheKey.maximumNamespaceLength)
    let beginning = "\(namespace)/v1/\(start)"
    let count = CacheKey.maximumRequestLength - beginning.utf8.count
    let key = beginning + String(repeating: more, count: count / more.utf8.count)
    let party = String(repeating: "a", count: 64)
    let leases = try [key, key + " " + party].map { try Lease.key(for: $0) }
    #expect(leases[0] != leases[1] && leases.allSatisfy { Lease.scope(of: $0)?.contains(key) == true })
  }

  @Test(arguments: ["leases/room", "cities/v1/page=0", "cities/a,b"]) func otherKeysAreNotLeasesOnRequests(key: String)
    throws
  { #expect(Lease.scope(of: try CacheKey(key)) == nil) }
}

/// A listing hides leases, unless the caller names their namespace.
struct HiddenLeasesTests {
  private static let selections: [(EntrySelection, isShown: Bool, isRemoved: Bool)] = [
    (EntrySelection(prefix: "lea"), false, false), (EntrySelection(namespace: "cities"), false, false),
    (EntrySelection(namespace: "leases"), true, true), (EntrySelection(namespace: "leases", state: .fresh), true, true),
    (EntrySelection(namespace: "leases", prefix: "leases/,a"), true, true),
    // These end the request, and count its lease as little as they list it.
    (EntrySelection(), false, true), (EntrySelection(state: .fresh), false, true),
    (EntrySelection(state: .stale), false, false),
  ]

  private func administration(_ test: CoalescingTest) -> StoreAdministration { StoreAdministration(test.test.store) }

  @Test(arguments: selections)
  func theyAreListedByTheirNamespaceOnly(selection: EntrySelection, isShown: Bool, isRemoved: Bool) async throws {
    let test = try await CoalescingTest()
    let key = try await test.leaveLease()
    let listing = try await administration(test).list(selection, after: nil, limit: 10)
    #expect(listing.entries.map(\.key) == (isShown ? [key] : []))
    #expect(try await administration(test).change(.remove, selection, dryRun: false).entries == (isShown ? 1 : 0))
    #expect(try await test.entries().isEmpty == isRemoved)
  }

  @Test func aLeaseCanBeRemovedByItsKey() async throws {
    let test = try await CoalescingTest()
    let key = try await test.leaveLease()
    #expect(try await administration(test).change(.remove, keys: [key], dryRun: false).entries == 1)
    #expect(try await test.entries().isEmpty)
  }
}
