/** Words that show how a number of a sentence was computed from others. Pure data. */

/** What a number may be computed by. */
export type Operation = 'sum' | 'difference' | 'average' | 'percent' | 'quotient' | 'product' | 'count'

const spacedWords: Readonly<Record<Operation, string>> = {
  sum:
    'total totals totalling totaling totaled totalled sum sums add adds added adding amount amounts amounted together altogether combined overall insgesamt zusammen gesamt summe total somme ensemble suma totale ' +
    'somma soma totaal samen totalt tillsammans sammanlagt sammen summa samlet łącznie razem suma celkem összesen toplam jumlah итого всего вместе сумма разом ' +
    'tổng cộng σύνολο συνολικά مجموع المجموع إجمالي الإجمالي סך יחד कुल',
  difference:
    'difference differs differ differed gap change changes changed increase increases increased decrease decreases decreased rise rises rose risen fall fell fallen grew ' +
    'growth drop dropped decline declined reduced reduction exceeds exceeded compared cheaper expensive heavier lighter larger smaller taller faster slower bigger more less fewer higher lower older younger longer shorter later earlier after before between since until ago lasted lasts spans ' +
    'spanned remain remains remaining left unterschied unterscheiden differenz änderung veränderung mehr weniger höher niedriger älter jünger länger kürzer später früher ' +
    'nach vor anstieg stieg stiegen steigt steigen gestiegen wuchs wuchsen gewachsen erhöhte erhöhten erhöht rückgang sank sanken sinkt gesunken fiel fielen gefallen verringerte verringert teurer billiger günstiger schwerer leichter größer kleiner zunahme abnahme dauerte dauert différence écart plus moins augmentation augmenté augmente baisse baissé baisse diminué diminue diminution passé hausse après ' +
    'avant duré diferencia aumento aumentó aumentado subió subido disminución disminuyó bajó bajado más menos después antes duró differenza aumento diminuzione più meno dopo prima diferença mais menos depois antes ' +
    'verschil meer minder stijging daling skillnad mer mindre forskel forskjell różnica więcej mniej rozdíl více méně különbség fark daha fazla selisih lebih kurang разница ' +
    'больше меньше выше ниже різниця більше менше chênh lệch hơn kém διαφορά الفرق فرق أكثر أقل הפרש יותר פחות अंतर अधिक',
  average:
    'average averages averaged mean median durchschnitt durchschnittlich durchschnittliche mittel mittelwert schnitt moyenne moyen promedio media medio médio média gemiddeld ' +
    'gemiddelde genomsnitt gennemsnit gjennomsnitt średnio średnia průměr průměrně átlag ortalama средний среднем средняя середній trung μέσος متوسط ממוצע औसत rata',
  percent:
    'percent percentage per-cent share proportion portion prozent prozentual anteil pourcentage cent part porcentaje ciento porcentagem cento percentuale percentage procent ' +
    'andel aandeel prosent prosenttia procentach procenta százalék yüzde persen процент процента процентов відсотків phần μερίδιο نسبة אחוז प्रतिशत',
  quotient:
    'ratio proportion quotient times twice half per each rate verhältnis quote mal je pro fois rapport veces proporción volte rapporto vezes razão keer maal gånger раз ' +
    'lần نسبة',
  product:
    'cost costs costing price priced pay pays paid times each per total totals altogether kosten kostet kosteten preis zahlen zahlt bezahlen mal je pro ' +
    'zusammen insgesamt coûtent coûte coûter prix paient payer fois cuestan cuesta precio pagan veces costano costa prezzo pagano volte custam custa preço pagam vezes kost ' +
    'kostar koster kosztuje kosztują maksaa stojí стоит стоят стоимость цена коштують giá tốn',
  count:
    'table tables tabelle tableau entries entry rows row items records lists listed count counts number there contains einträge zeilen posten anzahl liste enthält umfasst nennt entrées lignes nombre contient ' +
    'entradas filas número contiene voci righe numero contiene linhas rijen aantal rader antal antall wierszy liczba строк записей число hàng mục',
}

/** In scripts without spaces between words. */
const spacelessWords: Readonly<Record<Operation, RegExp>> = {
  sum: /总|總|共|合计|合計|まとめて|합계|총|모두|รวม/u,
  difference: /差|多了|少了|增加|减少|減少|比|年后|年後|以来|차이|증가|감소|보다|ต่าง|มากกว่า|น้อยกว่า/u,
  average: /平均|평균|เฉลี่ย/u,
  percent: /[%％٪]|百分|割合|占|퍼센트|비율|ร้อยละ/u,
  quotient: /倍|比率|비율|เท่า/u,
  product: /共|每|合计|合計|价|價|각|개당|ราคา/u,
  count: /行|项|項|条|件|個|个|개|รายการ/u,
}
const sumSign = /\d ?\+ ?[\d$€£]|= ?\S{0,3}\d/u
const differenceSign = /\d ?[-−–] ?[\d$€£]\S{0,12} ?=/u
const productSign = /\d ?[×x*·] ?[\d$€£]/u

const operationsOfWord = new Map<string, Operation[]>()
for (const [operation, words] of Object.entries(spacedWords) as [Operation, string][]) {
  for (const word of new Set(words.split(' '))) {
    operationsOfWord.set(word, [...(operationsOfWord.get(word) ?? []), operation])
  }
}

/** Whether a word (lower case) is about a computation or a table, and not about what is computed. */
export function isOperationWord(word: string): boolean {
  return operationsOfWord.has(word)
}

/** The operations that a text mentions; `words` are its words in lower case. */
export function readOperations(text: string, words: readonly string[]): ReadonlySet<Operation> {
  const found = new Set(words.flatMap((word) => operationsOfWord.get(word) ?? []))
  for (const [operation, pattern] of Object.entries(spacelessWords) as [Operation, RegExp][])
    if (pattern.test(text)) found.add(operation)
  if (sumSign.test(text)) found.add('sum')
  if (differenceSign.test(text)) found.add('difference')
  if (productSign.test(text)) found.add('product')
  return found
}
