internal import CacheDomain

extension CitiesQuery {
  /// The query itself, once checked.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a page that no origin has.
  func checked() throws(CacheError) -> CitiesQuery {
    guard page >= 0 else {
      throw CacheError(.invalidRequest, "there is no page \(page) of cities", hint: "pages of cities begin at 0")
    }
    return self
  }
}
