/**
 * Phrases by which hosts report failures that status and code do not distinguish. Collected in 2026 from the hosts' references, their
 * servers' sources (vLLM, TGI, llama.cpp), public issue trackers and the recordings; each alternative is a phrase of at least one of them.
 */

/** The prompt, or the prompt with the requested output, does not fit the model. */
const contextOverflow = new RegExp(
  [
    // OpenAI, Azure, DeepSeek, OpenRouter, vLLM, Mistral, xAI: "This model's maximum context length is …"
    String.raw`maximum (?:context|prompt|input|model|sequence) (?:length|size)`,
    // OpenAI: "Your input exceeds the context window". MiniMax: "context window exceeds limit". Moonshot: "exceeded model token limit".
    // LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length".
    String.raw`(?:exceed\w*|(?:longer|larger|greater|bigger|more) than|beyond)[^.]{0,80}\b(?:context|(?:model |input )?token limit|(?:model|input) limit)`,
    // LM Studio: "Context size has been exceeded."
    String.raw`(?:context|token)[ _-]?(?:window|length|limit|size)\b[^.]{0,60}(?:exceed|overflow|too (?:long|large))`,
    // LM Studio: "Trying to keep the first 9000 tokens when context the overflows", "does not currently support mid-generation context overflow",
    // "Try to load the model with a larger context length, or provide a shorter input", "Cannot truncate prompt with n_keep (9002) >= n_ctx (4096)".
    String.raw`\bcontext\b[^.]{0,20}\boverflow|(?:larger|longer|bigger) context|shorter (?:input|prompt)|shorten(?:ing)? (?:the|your) (?:input|prompt|messages?|conversation|chat)|\bn_ctx\b`,
    // Nova: "Number of input tokens exceeds maximum length". Gemini: "exceeds the maximum number of tokens". z.ai: "Prompt exceeds max length".
    String.raw`exceed\w*[^.]{0,40}\bmax(?:imum)? (?:(?:input|prompt|model|sequence) )?(?:length|number of (?:input )?tokens)`,
    // Vertex: "the input token count is 40000 but model only supports up to 32767". Copilot: "prompt token count of 93854 exceeds the limit".
    String.raw`(?:input|prompt) token count\b[^.]{0,40}\b(?:exceeds|but)`,
    // Anthropic, Bedrock, Fireworks: "prompt is too long". Bedrock: "Input is too long for requested model." llama.cpp: "input is too large".
    String.raw`\b(?:prompt|input|messages?|conversation) (?:is|are) too (?:long|large)`,
    // Cohere: "too many tokens", "cannot exceed 4081 tokens". Bedrock: "Too many input tokens", "too many total text bytes".
    String.raw`too many (?:input |prompt |total )?tokens|too many total text|cannot exceed \d+ (?:input |prompt |total )?tokens`,
    // OpenAI, Groq, Cerebras: "Please reduce the length of the messages", "reduce your message size".
    String.raw`reduce (?:the|your) (?:length|message size|prompt)`,
    // DashScope: "Range of input length should be [1, 30720]", "Total message token length exceed model limit".
    String.raw`range of input length|token length exceed`,
    // TGI: "\`inputs\` tokens + \`max_new_tokens\` must be <= 4096", "\`inputs\` must have less than 3072 tokens".
    String.raw`tokens\b[^.]{0,40}must be (?:<=|less)|must have less than \d+ tokens`,
    // Bedrock's Titan: "expected maxLength: 50000, actual: 90000".
    String.raw`expected maxlength\b[^.]{0,40}actual`,
    // Bedrock's Nova: "Input Tokens Exceeded". Mistral: "too large for model with 32768 maximum context length".
    String.raw`input tokens exceeded|too large for model`,
    // OpenAI and Groq reject a single request above the tokens per minute; it never fits, however long one waits.
    String.raw`request too large`,
    String.raw`context_length|context_window|prompt 超长|超过.{0,20}(?:长度|上下文)`,
  ].join('|'),
  'i',
)

/** Only the requested output is above the model's cap; the prompt fits. */
const outputCapOnly = /max(?:imum)?[ _]tokens you requested exceeds/i

export function isContextOverflow(message: string): boolean {
  return contextOverflow.test(message) && !outputCapOnly.test(message)
}

/** Codes of a prompt that does not fit: OpenAI, vLLM, llama.cpp, Copilot (`model_max_prompt_tokens_exceeded`), Cerebras. */
const contextOverflowCode =
  /context_?(?:length|window|size|limit|overflow)|(?:prompt|input)_?(?:tokens?_?|length_?)?(?:limit_?)?(?:exceeded|too_?(?:long|large))|^max_tokens_exceeded$/i

export function isContextOverflowCode(code: string): boolean {
  return contextOverflowCode.test(code)
}

/** The host is at capacity, independent of the caller's limits: another host may serve the call. */
const noCapacity =
  /overloaded|(?:at|over|out of|no|insufficient|available|reached|limited|lack of)\b.{0,20}\bcapacity|capacity (?:is |was )?(?:exceeded|reached|full|unavailable|constraints?)|engine is currently|(?:server|service|model) is (?:too |currently )?busy|no healthy upstream|too busy/i

/** Rate limits may name their reason. OpenRouter: "High demand for … - limited to 2 requests per minute". */
const rateLimit = /rate[ -]?limit|limited to/i

export function isCapacityShortage(message: string): boolean {
  return noCapacity.test(message) && !rateLimit.test(message)
}

/** The account at the provider has no money left, or is closed; whatever the status. */
const exhaustedAccount = new RegExp(
  [
    // OpenAI. Moonshot: "exceeded_current_quota". Mistral: "quota is used up".
    String.raw`exceeded your current quota|quota (?:is|of .{0,60} is) used up|exceeded_current_quota`,
    // DeepSeek, Moonshot, SiliconFlow, Anthropic: "credit balance is too low". DashScope: "account is in arrears".
    String.raw`insufficient (?:account )?(?:balance|credits?|quota|funds)|credit (?:balance|limit)|in arrears|payment required|past due|overdue`,
    // SiliconFlow: "your account balance is insufficient". Novita: "not enough balance".
    String.raw`(?:balance|credits?|funds)\b[^.]{0,20}\b(?:insufficient|too low|not enough|negative)|not enough (?:balance|credits?|funds)`,
    // xAI: "Your newly created teams doesn't have any credits yet", "used all available credits". OpenRouter: "requires more credits".
    String.raw`(?:\bno|any|out of|enough|exhausted|all (?:its |your )?available|requires? more|run out of|ran out of)\b[^.]{0,20} credits?\b|credits? (?:are |is |have been |has been )?(?:exhausted|depleted|used up)`,
    String.raw`(?:spend(?:ing)?|usage|monthly|billing|budget|credit|key) (?:limit|cap)\b.{0,80}(?:reached|exceeded)`,
    String.raw`(?:reached|reaching|exceeded|hit) (?:its|your|the|a) (?:(?:monthly|daily|total) )?(?:spend(?:ing)?|usage|billing|budget|credit)\b`,
    // Fireworks (412): "Account acme is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices."
    // OpenAI: "Your account is not active". Moonshot: "is not active, current state: suspended". Anthropic: "This organization has been disabled."
    // DashScope: "make sure your account is in good standing".
    '(?:余额|餘額|额度|額度|配额|配額|残高|クレジット|잔액|크레딧|할당량)[^。.]{0,12}(?:不足|用尽|用盡|耗尽|耗盡|用完|부족|소진)|欠费|欠費',
    // LiteLLM: "Budget has been exceeded! Current cost: …", "ExceededBudget: Crossed spend within …". A budget of reasoning is the client's.
    String.raw`(?<!thinking |reasoning |token )\bbudget\b[^.]{0,20}\bexceeded|exceeded ?budget|crossed spend|\b(?:cost|budget|spend) limit\b`,
    String.raw`\b(?:trial|licen[cs]e|package|plan)\b[^.]{0,60}\b(?:expired|ended|used up|exhausted|(?:does not|doesn['’]t) (?:include|support|allow))|\b(?:your|current|free|paid) (?:plan|tier)\b|\bupgrade (?:your|to)\b`,
    String.raw`\b(?:no|valid|credit|debit) card\b|\bcard on file\b|\btokens? (?:left|remaining) in\b|\bcontact (?:our )?sales\b|\bsales@`,
    String.raw`\b(?:account|team|organi[sz]ation|workspace|project|subscription|billing)\b[^.]{0,80}\b(?:suspended|deactivated|disabled|terminated|frozen|locked|banned|delinquent|closed|expired|inactive|not active|good standing)`,
    // A prompt of the user that was blocked is the client's.
    String.raw`\b(?:you|user|customer|tenant|client)(?! (?:prompt|message|input|content|turn|request)\b)(?: \S{1,80}){0,2} (?:has|have|is|was|are) (?:been )?(?:suspended|deactivated|disabled|terminated|frozen|banned|blocked|restricted|delinquent|inactive)\b`,
  ].join('|'),
  'i',
)

/** Anything about the operator's account. */
const account = new RegExp(
  [
    String.raw`\b(?:account|accounts(?!\/)|billing|billed|invoices?|payments?|credits?|balance|suspen(?:ded|sion)|subscriptions?|subscribe|top[ -]?up|recharge|quota|spending|funds|wallet|prepaid|organi[sz]ation|org-\w{8,}|workspace)\b`,
    // Chinese; one-api and new-api: "用户额度不足", "该令牌额度已用尽".
    '账户|账号|帐户|帐号|帳戶|帳號|余额|餘額|欠费|欠費|充值|儲值|额度|額度|配额|配額|套餐|计费|計費|账单|帳單|订阅|訂閱|实名|封禁|冻结',
    // Japanese, Korean, Russian.
    'アカウント|残高|請求(?:書|先)|ご請求|支払|課金|クレジット|利用枠',
    '계정|잔액|결제|요금|청구|크레딧|구독|할당량',
    String.raw`аккаунт|уч[её]тн\S{1,4} запис|баланс|сч[её]та? |оплат|плат[её]ж|подписк|квот|недостаточно средств|тариф`,
    // German, French, Spanish, Portuguese, Italian. Words that also mean something else need their neighbour.
    String.raw`\b(?:\w*kont(?:o|os|en)|guthaben\w*|abrechnung\w*|rechnung(?:en)?|\w*kontingent\w*|zahlung\w*|abonnement\w*)\b`,
    String.raw`\b(?:votre|ce|le) compte\b|\b(?:solde|facturation|factures?|paiements?)\b|crédit`,
    String.raw`\bcompte (?!tenu|rendu)|\b(?:su|tu|la|esta) cuenta\b|\b(?:sua|esta) conta\b|\bsald[oi]\b|\bfactura|\bfatura|\bfattur|\bpagos?\b|\bpagament|suscripci|\bassinatura|\babbonament|cr[ée]dito`,
    // Dutch, Polish, Swedish, Danish, Czech, Slovak, Turkish, Vietnamese, Indonesian, Ukrainian.
    String.raw`\btegoed\b|\b(?:uw|je) (?:rekening|sleutel)\b|\bkont(?:a|em|ot|oen)\b|\bśrodk|\bpłatno|(?<!\p{L})účt?(?:et|u|em|tu)(?!\p{L})|zůstatek|zostatok|předplat|predplat|\bhesap |hesab[ıi]|\bbakiye|abonelik|tài khoản|số dư|thanh toán|\b(?:akun|tagihan|langganan)\b|рахун(?:ок|ку)|обліков`,
  ].join('|'),
  'iu',
)

/** Anything about the operator's key. Validators name the keys of objects, so only keys of an API count. */
const accountKey = new RegExp(
  [
    String.raw`\b(?:api|access|secret|provider|auth\w*)[ _-]?(?:keys?|tokens?)\b|\b(?:credentials?|unauthori[sz]ed|not authori[sz]ed|permissions?)\b`,
    String.raw`\b(?:your|this|provided|supplied) (?:\w+ )?key\b|\bkey (?:has |is |was )?(?:been )?(?:expired|revoked|disabled|blocked|suspended|invalid|not (?:valid|active|allowed|authori[sz]ed))`,
    String.raw`\b(?:incorrect|wrong|expired|revoked) key\b|\b(?:bearer|security|session|refresh) token\b|\bjwt\b|\btoken (?:has |is |was )?(?:been )?(?:expired|revoked)|\b(?:expired|revoked) token\b`,
    // AWS. The signature of a thought is the client's.
    String.raw`\brequest signature|\bsignature (?:mismatch|expired)|\bAWS Marketplace|\bmarketplace (?:agreement|subscription)`,
    // An address or file that the host could not read is the client's.
    String.raw`^(?![^]*\b(?:url|https?|image|file|document|download\w*|fetch\w*)\b)[^]*\baccess (?:(?:is|was|has been) )?(?:denied|restricted)`,
    String.raw`\bnot allowed to (?:use|access) (?:this|the) model\b|\b(?:no|not have) access to\b|\bip(?: address)?\b[^,;]{0,60}\b(?:not (?:allowed|authori[sz]ed|permitted|whitelisted)|blocked|denied)`,
    String.raw`\bverify your (?:identity|phone|e-?mail)|\bidentity verification|\bkyc\b`,
    '密钥|金鑰|(?:无效的|無效的|过期的)令牌|令牌(?:已|不|无|無|状态|验证)|鉴权|无权|权限|權限|認証|権限|(?:API|秘密) ?キー|API[- ]?키|인증|권한',
    String.raw`API[- ]?ключ|ключ\S{0,2} (?:API|доступ)|API[- ]?schlüssel|\bclé (?:d['’])?API|\b(?:clave|chave|chiave) (?:de |da |do )?(?:la )?API`,
    String.raw`\bAPI[- ](?:sleutel|nyckel|nøgle|klíč|kľúč|anahtar)|\b(?:klucz\w*|klíč|kľúč|khóa|khoá|kunci) API`,
  ].join('|'),
  'i',
)

/** Names of fields and values of the request. Longer quotations remain: gateways quote the error of the host behind them. */
const quotedName = /`[\w.[\]-]{1,100}`|"[\w.[\]-]{1,100}"|'[\w.[\]-]{1,100}'/g

const withoutNames = (message: string) => message.replace(quotedName, '')

export function isExhaustedAccount(message: string): boolean {
  return exhaustedAccount.test(withoutNames(message))
}

/** True if the text may name the operator's account: it is not for clients. */
export function mentionsAccount(message: string): boolean {
  return classOfUnknownRefusal(message) !== 'invalid_request' || isInUnknownScript(message)
}

/** Half of the letters or more are in a script that none of these phrases has, such as Arabic or Thai. */
function isInUnknownScript(message: string): boolean {
  const letters = message.match(/\p{L}/gu)?.length ?? 0
  return letters > 0 && 2 * (message.match(unknownScriptLetter)?.length ?? 0) >= letters
}

const unknownScriptLetter =
  /(?!\p{Script=Latin}|\p{Script=Cyrillic}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul})\p{Lo}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Georgian}/gu

/**
 * The class of a 4xx that nothing else identifies: an error that speaks of the account or its key is the operator's, and another deployment
 * may serve the call.
 */
export function classOfUnknownRefusal(message: string): 'quota' | 'authentication' | 'invalid_request' {
  const text = withoutNames(message)
  if (exhaustedAccount.test(text)) return 'quota'
  if (accountKey.test(text)) return 'authentication'
  return account.test(text) ? 'quota' : 'invalid_request'
}
