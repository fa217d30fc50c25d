// All that the page says, in its languages. An entry is a text, or a function that makes one.

import { stored } from "./dom.js";

const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const count = (n) => n.toLocaleString("zh");

export const STRINGS = {
  en: {
    otherLanguage: "中文",
    skip: "Skip to the results",
    page: "Page",
    colorsAuto: "Colors: as the system",
    colorsLight: "Colors: light",
    colorsDark: "Colors: dark",

    text: "Text",
    textPlaceholder: "Type or paste a text",
    length: (n, most) => `${n.toLocaleString("en")} of ${plural(most, "character")}`,
    examples: "Examples",
    exampleSentence: "A sentence",
    exampleReadings: "Two readings",
    exampleTraditional: "Traditional",
    exampleParagraph: "A paragraph",
    clear: "Clear",

    userWords: "User words",
    yourWord: "Your word",
    wordPlaceholder: "type or select",
    tag: "Tag",
    anyTag: "any",
    mode: "Becomes a word",
    modeForce: "wherever it stands",
    modeBonus: "if it fits well enough",
    modePrefer: "if the model agrees",
    modeForceHint: "Wherever these characters stand next to each other, they are cut out as one word.",
    modeBonusHint:
      "Analyses that have the word get so many points more; below zero, it is kept from being a word. "
      + "Alternatives show how far analyses lie apart.",
    modePreferHint:
      "It counts as one of the dictionary that the model was trained with; the model still decides.",
    bonus: "Points",
    add: "Add",
    addedWords: "Words that you added",
    wordForce: "everywhere",
    wordBonus: (bonus) => `${bonus < 0 ? "" : "+"}${bonus} points`,
    wordPrefer: "if the model agrees",
    removeWord: (word) => `Remove the word ${word}`,
    unusedWord: "This pipeline has no such tag, or takes no words of this kind: it is left out",

    results: "Results",
    views: "Views",
    viewWords: "Words",
    viewTrees: "Trees",
    viewEntities: "Entities",
    viewCategories: "Categories",
    viewAlternatives: "Alternatives",
    download: "Download",
    downloadCorrections: "Corrected sentences",
    downloadWords: "Your words",
    copyLink: "Copy link",
    copied: "The link is copied: it holds text, words and view.",
    copyYourself: "The link stands in the address bar: copy it from there.",
    nothingToDownload: "There is nothing to download yet: type a text first.",
    savedCorrections: (columns) =>
      "Saved corrections.col. Correct the pipeline with: structreg correct PIPELINE corrections.col "
      + `corrected --columns ${columns}`,
    savedWords: "Saved words.txt: a word a line, with its tag. Load it with nlp.tokenizer.user_words.load.",

    typeText: "Type or paste a text, or choose an example.",
    working: "Working …",
    found: (words, sentences, ms) =>
      `${plural(words, "word")} in ${plural(sentences, "sentence")}, ${ms} ms`,
    tooLong: (n) => `The text is too long by ${plural(n, "character")}: cut it.`,
    tryingAgain: (reason, seconds) => `${reason}; trying again in ${seconds} s …`,
    gone: "The server does not answer",
    loading: "The pipeline is being loaded",
    isBusy: "The server is busy",

    faultBusy: "The server is busy: try again in a moment.",
    faultTimeOver: "The server took too long: try again, or take a shorter part of the text.",
    faultTooLarge: "The text is too long for this view: take a shorter part of it.",
    faultTooManyWords: (most) =>
      `You have more words than the server takes (${most.toLocaleString("en")}): remove some.`,
    faultFailed: "The pipeline fails on this text; the log of the server says where.",
    faultOther: (message) => message,
    faultUnknown: (status) => `the server answered ${status}`,

    words: "Words",
    tags: "Tags",
    heads: "Dependencies",
    constituents: "Phrases",
    entities: "Entities",
    categories: "Categories",
    legend: "What the labels mean",
    certainty: "Show how certain the pipeline is of each word",
    certaintyCalibrated:
      "Of all words with 90 %, nine in ten are right, with their tags. The less certain, the redder; "
      + "numbers below 90 % stand there always, others when you point at the word.",
    certaintyMargins:
      "How many points the word, with its tag, is ahead of the next best reading. The less, the redder; "
      + "numbers below 3 stand there always, others when you point at the word.",
    confidence: (value) => `certain: ${value}`,
    whyBoundary: "Why a boundary here?",

    pictures: "Pictures",
    styleDep: "Dependencies",
    styleTree: "Phrases",
    styleSpan: "Bars",
    size: "Size",
    smaller: "Smaller",
    larger: "Larger",
    fit: "Fit to width",
    arc: (word, relation, head) => `${word}: ${relation}${head ? ` of ${head}` : ""}`,
    picture: (number) => `Picture of sentence ${number}`,
    downloadPicture: (number) => `Download the picture of sentence ${number} as SVG`,
    nothingToDraw: "Nothing to draw.",

    spans: "Spans",
    noEntities: "None were found in this text.",
    correctHint:
      "Something wrong? Choose an entity, or a word that should be one, and correct it: corrected "
      + "sentences become training data.",
    corrected: "corrected",
    nCorrected: (n) => `${plural(n, "sentence")} corrected`,
    discard: "Discard all",
    correction: "Correct it",
    type: "Type",
    from: "From",
    to: "To",
    save: "Save",
    notAnEntity: "Not an entity",
    undo: "Undo in this sentence",

    alternativesHint:
      "The best readings of each sentence, and how many points they are behind. What the best "
      + "one does not have is marked, after what it has instead, struck out; … stands for what is the same.",
    best: "best",
    same: "the same in this",
    drawn: "the one that is drawn",
    only: "no other reading was weighed",
    score: (value) => `score ${value}`,

    whyBefore: "Why ",
    whyAfter: "?",
    closeExplanation: "Close the explanation",
    decisionsAbout: "Decisions about",
    cannotExplain: "No part of this pipeline can explain itself.",
    tooLongToExplain: (most) =>
      `The sentence is too long to be explained: at most ${plural(most, "character")}.`,
    noDecision: "No decision is about this alone.",
    otherDecisions: (n) => `All other decisions of the sentence (${n})`,
    noChoice: "no other choice",
    wasNoChoice: "There was no other choice.",
    runnerUp: (label) => `runner-up: ${label}`,
    margin: "margin: how far the runner-up is behind",
    nothingApart: "Nothing tells the two apart.",
    at: (place) => `at ${place}`,
    needed: "would have to change",
    weaker: (n) => `${n} weaker ones`,
    allFeatures: (n) => `All features of this decision (${n})`,
    pointsFor: (value, label) => `${value} for ${label}`,
    points: (value) => `${value} points`,

    shortcuts: "Keyboard shortcuts",
    keyWrite: "write in the text",
    keyView: "change the view",
    keyArrows: "go from word to word",
    keyEnds: "the first and the last word of a sentence",
    keyExplain: "why is it so? explain the word, tag, arc or phrase; correct the entity",
    keyBoundary: "explain the boundary before the word",
    keyWord: "take the word in focus, or else the selected text, as a word of yours",
    keySize: "trees larger and smaller",
    keyFit: "trees as wide as the page",
    keyClose: "close what is open",
    keyHelp: "this list",
    close: "Close",
  },
  zh: {
    otherLanguage: "English",
    skip: "跳到分析结果",
    page: "页面",
    colorsAuto: "配色：跟随系统",
    colorsLight: "配色：浅色",
    colorsDark: "配色：深色",

    text: "文本",
    textPlaceholder: "输入或粘贴一段文本",
    length: (n, most) => `${count(n)} / ${count(most)} 字`,
    examples: "示例",
    exampleSentence: "普通句子",
    exampleReadings: "歧义句",
    exampleTraditional: "繁体",
    exampleParagraph: "一段话",
    clear: "清空",

    userWords: "自定义词",
    yourWord: "词",
    wordPlaceholder: "输入或在文本中选取",
    tag: "词性",
    anyTag: "不限",
    mode: "成词方式",
    modeForce: "强制成词",
    modeBonus: "加分",
    modePrefer: "仅供参考",
    modeForceHint: "文中只要出现这几个字，就一律切成一个词。",
    modeBonusHint: "含有这个词的方案加上这个分数，再和其他方案比较；填负数则尽量不切成词。分差可以在“候选方案”里看到。",
    modePreferHint: "相当于把它加进模型训练时用的词典，是否成词仍由模型决定。",
    bonus: "分数",
    add: "添加",
    addedWords: "已添加的词",
    wordForce: "强制",
    wordBonus: (bonus) => `${bonus < 0 ? "" : "+"}${bonus} 分`,
    wordPrefer: "参考",
    removeWord: (word) => `删除“${word}”`,
    unusedWord: "当前管线没有这个词性，或不支持这种成词方式，该词未生效",

    results: "分析结果",
    views: "视图",
    viewWords: "分词",
    viewTrees: "句法树",
    viewEntities: "实体",
    viewCategories: "文本分类",
    viewAlternatives: "候选方案",
    download: "下载",
    downloadCorrections: "修正过的句子",
    downloadWords: "自定义词",
    copyLink: "复制链接",
    copied: "链接已复制，其中包含文本、自定义词和当前视图。",
    copyYourself: "链接已写入地址栏，请从地址栏复制。",
    nothingToDownload: "还没有可下载的内容，请先输入文本。",
    savedCorrections: (columns) =>
      "已保存 corrections.col。用它修正管线：structreg correct PIPELINE corrections.col corrected "
      + `--columns ${columns}`,
    savedWords: "已保存 words.txt，每行一个词及其词性，可用 nlp.tokenizer.user_words.load 加载。",

    typeText: "请输入或粘贴文本，也可以点一个示例。",
    working: "正在分析……",
    found: (words, sentences, ms) => `${count(sentences)} 句，${count(words)} 个词，用时 ${ms} 毫秒`,
    tooLong: (n) => `文本超长 ${count(n)} 字，请删减。`,
    tryingAgain: (reason, seconds) => `${reason}，${seconds} 秒后重试……`,
    gone: "服务器没有响应",
    loading: "管线正在加载",
    isBusy: "服务器繁忙",

    faultBusy: "服务器繁忙，请稍后再试。",
    faultTimeOver: "处理超时，请重试，或缩短文本。",
    faultTooLarge: "文本太长，这个视图无法显示，请缩短文本。",
    faultTooManyWords: (most) => `自定义词超过了服务器的上限（${count(most)} 个），请删掉一些。`,
    faultFailed: "管线处理这段文本时出错，详情见服务器日志。",
    faultOther: (message) => `服务器拒绝了请求：${message}`,
    faultUnknown: (status) => `状态码 ${status}`,

    words: "分词",
    tags: "词性",
    heads: "依存关系",
    constituents: "短语",
    entities: "实体",
    categories: "文本分类",
    legend: "标签说明",
    certainty: "显示每个词的置信度",
    certaintyCalibrated:
      "置信度 90% 的词，平均十个里有九个切分和词性都正确。颜色越红越不确定；低于 90% 的数值始终显示，其余的在鼠标"
      + "悬停时显示。",
    certaintyMargins:
      "数值是该词（连同词性）比次优方案高出的分数，分数越低颜色越红；低于 3 的始终显示，其余的在鼠标悬停时显示。",
    confidence: (value) => `置信度 ${value}`,
    whyBoundary: "为什么在这里切开？",

    pictures: "图的种类",
    styleDep: "依存关系",
    styleTree: "短语结构",
    styleSpan: "区间图",
    size: "缩放",
    smaller: "缩小",
    larger: "放大",
    fit: "适应宽度",
    arc: (word, relation, head) => `${word}：${relation}${head ? `，中心词“${head}”` : ""}`,
    picture: (number) => `第 ${number} 句的图`,
    downloadPicture: (number) => `将第 ${number} 句的图下载为 SVG`,
    nothingToDraw: "没有可画的内容。",

    spans: "标注组",
    noEntities: "没有识别出实体。",
    correctHint: "识别有误？点选实体（或漏掉的词）即可修正，修正过的句子可以下载作训练数据。",
    corrected: "已修正",
    nCorrected: (n) => `已修正 ${count(n)} 句`,
    discard: "全部放弃",
    correction: "修正标注",
    type: "类型",
    from: "起",
    to: "止",
    save: "保存",
    notAnEntity: "不是实体",
    undo: "撤销本句的修正",

    alternativesHint:
      "每句得分最高的几种方案，数字是比最优方案低多少分。加删除线的是最优方案的结果，其后高亮的是该方案的结果，"
      + "相同的部分以“…”略去。",
    best: "最优",
    same: "此处相同",
    drawn: "即图中所画",
    only: "没有其他方案",
    score: (value) => `得分 ${value}`,

    whyBefore: "为什么这样分析“",
    whyAfter: "”？",
    closeExplanation: "关闭解释",
    decisionsAbout: "解释对象",
    cannotExplain: "这个管线没有可以解释的组件。",
    tooLongToExplain: (most) => `句子太长，无法解释：最多 ${count(most)} 字。`,
    noDecision: "没有只针对这一处的决策。",
    otherDecisions: (n) => `本句的其他决策（${n} 个）`,
    noChoice: "没有其他选择",
    wasNoChoice: "此处没有其他选择。",
    runnerUp: (label) => `次优：${label}`,
    margin: "次优选择落后的分数",
    nothingApart: "没有特征能区分两者。",
    at: (place) => `位于 ${place}`,
    needed: "关键特征",
    weaker: (n) => `另有 ${n} 个较弱的特征`,
    allFeatures: (n) => `该决策的全部特征（${n} 个）`,
    pointsFor: (value, label) => `${label}：${value} 分`,
    points: (value) => `${value} 分`,

    shortcuts: "快捷键",
    keyWrite: "编辑文本",
    keyView: "切换视图",
    keyArrows: "在词之间移动",
    keyEnds: "移到句首、句末的词",
    keyExplain: "解释选中的词、词性、弧或短语，修正选中的实体",
    keyBoundary: "解释词前的切分",
    keyWord: "将当前词或选中的文本填入自定义词",
    keySize: "放大、缩小句法树",
    keyFit: "句法树适应宽度",
    keyClose: "关闭弹出的内容",
    keyHelp: "显示快捷键",
    close: "关闭",
  },
};

const known = (name) => (name in STRINGS ? name : null);

/** The language that was chosen, or else the first of the browser's that there is. */
export let language =
  known(stored("language"))
  ?? navigator.languages.map((each) => known(each.split("-")[0].toLowerCase())).find(Boolean)
  ?? "en";

/** Speak the other language from now on. */
export function switchLanguage() {
  language = language === "en" ? "zh" : "en";
  stored("language", language);
}

/** A text of the page; values: what the entry takes. */
export function say(key, ...values) {
  const entry = STRINGS[language][key];
  return typeof entry === "function" ? entry(...values) : entry;
}

const ATTRIBUTES = ["aria-label", "placeholder", "title"];

/** Fill in the texts of the document's own elements: `data-say`, `data-say-title` and so on. */
export function sayAll() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-say]")) {
    element.textContent = say(element.dataset.say);
  }
  for (const name of ATTRIBUTES) {
    for (const element of document.querySelectorAll(`[data-say-${name}]`)) {
      element.setAttribute(name, say(element.getAttribute(`data-say-${name}`)));
    }
  }
}
