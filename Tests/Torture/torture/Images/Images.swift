/// Chapter 1: what any crash leaves behind is repaired, at whichever store it came.
let imagesGroup = Group(
  number: 1, title: "Crash images",
  columns: ["operation", "variant", "instructions", "stores", "images", "second-level images"],
  items: [tracerItem] + operationItems)
