import Testing

@testable import CacheBase

struct CacheBaseTests {
  @Test(arguments: [
    ("", "", 0), ("abc", "abc", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "acb", 1), ("abc", "ab", 1),
    ("abc", "xbc", 1), ("kitten", "sitting", 3), ("ca", "abc", 3), ("sqlite", "sqilte", 1),
  ])
  func theDistanceOfWords(left: String, right: String, distance: Int) {
    #expect(Spelling.distance(Array(left), Array(right)) == distance)
    #expect(Spelling.distance(Array(right), Array(left)) == distance)
  }

  @Test(arguments: [
    ("revnue", "revenue"), ("REVENUE", "revenue"), ("nmae", "name"), ("org", "organizations"), ("x", nil), ("", nil),
    ("cities", nil), ("reveneus", "revenue"),
  ])
  func onlyASimilarNameIsSuggested(name: String, expected: String?) {
    #expect(Spelling.nearest(to: name, among: ["revenue", "organizations", "name"]) == expected)
  }

  @Test func theFirstOfEquallySimilarNamesIsTaken() {
    #expect(Spelling.nearest(to: "b", among: ["aa", "a", "c"]) == "a")
    #expect(Spelling.nearest(to: "b", among: []) == nil)
  }

  @Test(arguments: [
    ("nope", nil), ("reddis", nil), ("lmbd", "lmdb"), ("sqlit", "sqlite"), ("mem", "memory"), ("sqlite3", "sqlite"),
  ])
  func theNamesOfEngines(name: String, expected: String?) {
    #expect(Spelling.nearest(to: name, among: ["sqlite", "lmdb", "plist", "memory"]) == expected)
    #expect(Spelling.nearest(to: "reddis", among: ["sqlite", "redis"]) == "redis")
  }

  @Test func longNamesAreComparedByTheirBeginning() {
    let long = String(repeating: "a", count: 100_000)
    #expect(Spelling.isNear(long, long + "b"))
    #expect(!Spelling.isNear(long, "a"))
  }
}
