extension HTTPResponse {
  /// The media type of the body in lower case, without parameters; `nil` where the header names none.
  var mediaType: String? {
    guard let type = head.fields["content-type"]?.prefix(while: { $0 != ";" && $0 != "," }) else { return nil }
    return FieldList.trimmed(type).lowercased()
  }
}
