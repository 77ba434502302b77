/**
 * Function words and question words of languages that the stop word package lacks. Short on purpose: only words that
 * carry no topic.
 */

function words(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== '')
}

export const vietnameseFunctionWords = words('bao các của đâu gì là mấy nào nhiêu những và')

export const polishFunctionWords = words(`
  a aby albo ale bez być był była było były czy czyli dla dlaczego do gdy gdzie go i ich ile im jak jaka jaki jakie jako jego jej
  jest jeśli już kiedy kogo kto która które który których lub ma mi mnie może można na nad nie niż o od oraz po pod podczas przed
  przez przy są się skąd także tam te tego tej ten też to tu tych tylko tym u w we więc wszystkie z za ze że`)

export const czechFunctionWords = words(`
  a aby ale ani až bez by byl byla bylo byly být co či do jak jaká jaké jaký jako je jeho její jejich jen ještě jsou již k kde
  kdo kdy kdyby kolik která které který kteří mezi mít může na nad nebo než o od po pod podle pro proč před při s se si tak také
  tato tedy ten této to toho tom tím u v ve však z za že`)

export const catalanFunctionWords = words(`
  a al als amb aquest aquesta aquests com de del dels el els en entre era és ha han i la les li més no o on per perquè però quan
  quant que què qui quin quina se sense ser seu seva si són també té un una uns va van`)

export const hebrewFunctionWords = words(`
  אבל או אין איך איפה אל אם אשר את באיזה בין גם הוא היא היה היו הם זה זאת זו יש כי כל כמה לא לפני מ מה מי מתי על עם רק של`)

export const persianFunctionWords = words(`
  از است این آن با بر برای بود به تا چه چرا چگونه چند در را شد شده که کجا کدام کرد کی می نیز ها های هر هم و یا یک`)

export const thaiFunctionWords = words(`
  กว่า กับ การ ก็ กี่ ของ ขึ้น ความ คือ ใคร ควร จะ จาก ใช่ ซึ่ง ด้วย ได้ ตาม แต่ ต่อ ถึง ถูก ทำไม ทำ ที่ นั้น นี้ ใน เป็น
  ไป เพราะ เพื่อ โดย มา มี เมื่อ เมื่อใด เมื่อไร เมื่อไหร่ แล้ว และ ว่า ไว้ เหล่า ให้ ไหน หรือ ไหม อยู่ อย่าง อย่างไร อะไร
  เท่าไร เท่าใด เท่าไหร่ ใด บ้าง ไม่ กัน นั่น เอง ทั้ง`)

/** Characters and pairs of characters, as the tokenizer cuts them. */
export const chineseFunctionWords = words(`
  什么 什麼 多少 哪些 哪个 哪個 哪里 哪裡 哪儿 哪种 哪年 怎么 怎麼 怎样 怎樣 如何 为什 為什 为何 為何 是谁 是誰 是什 是否 有多 有哪 何时
  何時 几个 幾個 这个 這個 这些 這些 那个 那些 一个 一個 的是 了什 的什 的哪 是哪 在哪 被称 称为
  的 了 是 在 和 与 與 或 有 为 為 被 把 从 從 对 對 中 上 下 到 于 於 以 及 其 这 這 那 哪 什 么 麼 谁 誰 何 吗 嗎 呢 个 個 些 多 少 不 也 都
  之 而 所 年 月 日`)
