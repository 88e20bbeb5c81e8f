struct Refusal: Error, Equatable {
  var number = 0
}
