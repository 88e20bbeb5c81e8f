/// Chapter 1: what any crash leaves behind is repaired, at whichever store it came.
let imagesGroup = Group(
  number: 1, title: "Crash images",
  columns: ["operation", "variant", "stores", "images", "recoveries traced", "second-level images"],
  items: [tracerItem] + crossCheckItems + operationItems + collectionItems + lifeItems)
