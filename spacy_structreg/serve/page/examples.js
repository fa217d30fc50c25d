// Texts to begin with, by the language of the pipeline; a test holds what must come out of them.

export const EXAMPLES = {
  zh: {
    exampleSentence: "李明昨天在杭州的书店买了三本小说。",
    exampleReadings: "这个门把手坏了，请把手拿开。",
    exampleTraditional: "我們昨天在臺北的圖書館借了兩本書。",
    exampleParagraph:
      "王芳在成都长大。2015年，她考上了南京大学。毕业以后，她和同学开了一家小公司。去年冬天，他们的"
      + "产品卖到了国外。她说：“我们没想到会这么顺利。”",
  },
  en: {
    exampleSentence: "Maria bought three books about language in Lisbon yesterday.",
    exampleReadings: "We saw the painter with the telescope on the bridge.",
  },
};
