import type accounts from '../pages/accounts/en.json'
import type alerts from '../pages/alerts/en.json'
import type conversations from '../pages/conversations/en.json'
import type dataProtection from '../pages/data-protection/en.json'
import type devtools from '../pages/devtools/en.json'
import type files from '../pages/files/en.json'
import type goldenQuestions from '../pages/golden-questions/en.json'
import type hostedChat from '../pages/hosted-chat/en.json'
import type models from '../pages/models/en.json'
import type operator from '../pages/operator/en.json'
import type semanticSearch from '../pages/semantic-search/en.json'
import type singleSignOn from '../pages/single-sign-on/en.json'
import type spaceTools from '../pages/space-tools/en.json'
import type overview from '../pages/overview/en.json'
import type playground from '../pages/playground/en.json'
import type ownChats from '../pages/own-chats/en.json'
import type palette from '../pages/palette/en.json'
import type receipts from '../pages/receipts/en.json'
import type spaces from '../pages/spaces/en.json'
import type usage from '../pages/usage/en.json'
import type viewer from '../pages/viewer/en.json'
import type webSources from '../pages/web-sources/en.json'
import type failures from '../ui/failures/en.json'
import type conflict from '../ui/conflict/en.json'
import type common from './en.json'

/** Makes a missing key a type error. */
declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common'
    resources: {
      common: typeof common
      accounts: typeof accounts
      alerts: typeof alerts
      conversations: typeof conversations
      'data-protection': typeof dataProtection
      devtools: typeof devtools
      failures: typeof failures
      conflict: typeof conflict
      files: typeof files
      'golden-questions': typeof goldenQuestions
      'hosted-chat': typeof hostedChat
      models: typeof models
      operator: typeof operator
      'semantic-search': typeof semanticSearch
      'single-sign-on': typeof singleSignOn
      'space-tools': typeof spaceTools
      overview: typeof overview
      playground: typeof playground
      'own-chats': typeof ownChats
      palette: typeof palette
      receipts: typeof receipts
      spaces: typeof spaces
      usage: typeof usage
      viewer: typeof viewer
      'web-sources': typeof webSources
    }
  }
}
