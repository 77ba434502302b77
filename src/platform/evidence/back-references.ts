/** Pronouns and adverbs at the beginning of a sentence that refer to the sentence before it. */
const spacedWords =
  'he|she|it|they|this|these|those|such|his|her|its|their|there|then|however|er|sie|es|dies\\p{L}*|ihr\\p{L}*|sein\\p{L}*|dort|damit|daraufhin|dadurch|danach|' +
  'il|elle|ils|elles|ce|cette|ces|esto|este|esta|estos|estas|su|questo|questa|essi|он|она|оно|они|это|этот|ông|bà|nó|họ|điều này|những điều|ở đó|do đó|' +
  'هو|هي|هم|هذا|هذه|ذلك|وهو|وهي|وكان|وكانت'
const spacelessWords = '他|她|它|这|這|该|該|其|此|เขา|มัน|พวกเขา|นี่|นี้|これ|それ|その|この'
const pattern = new RegExp(`^["“«(]?(?:(?:${spacedWords})(?![\\p{L}\\p{M}])|(?:${spacelessWords}))`, 'iu')

/** Whether a sentence begins with a word that refers to the sentence before it. */
export function refersBack(sentence: string): boolean {
  return pattern.test(sentence)
}
