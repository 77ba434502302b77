import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { loadErrorTexts } from '../api/error-text.ts'
import { readStored, store } from '../ui/browser-storage.ts'
import en from './en.json' with { type: 'json' }

export const languages = [
  { code: 'en', name: 'English' },
  { code: 'de', name: 'Deutsch' },
] as const
export type Language = (typeof languages)[number]['code']

const storageKey = 'portico-language'

/** Loads the texts of the frame. The language is the last choice in this browser, else the browser's own. */
export async function startTranslations(): Promise<void> {
  const language = preferredLanguage()
  const frame = loadFrameTexts(language)
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'en',
    defaultNS: 'common',
    resources: { en: { common: en } },
    interpolation: { escapeValue: false },
    returnNull: false,
  })
  await frame.then((add) => add())
  document.documentElement.lang = i18next.language
  // The first page does not wait for it.
  void loadErrorTexts(i18next.language)
}

/** The texts of the frame in English are the fallback of every language; the others load where they are wanted. */
async function loadFrameTexts(language: Language): Promise<() => void> {
  if (language === 'en') return () => {}
  const { default: texts } = await import('./de.json')
  return () => void i18next.addResourceBundle(language, 'common', texts)
}

/** Loads a catalogue: `pages/spaces/de.json` is the namespace `spaces` in German. */
const catalogues = import.meta.glob<{ default: object }>('../{pages,ui}/*/{en,de}.json')
/** The namespaces of the pages that were opened. */
const opened = new Set<string>()

/** Loads the code of a page together with its texts in the current language. */
export async function withTexts<Module>(namespaces: string | string[], page: Promise<Module>): Promise<Module> {
  const wanted = [namespaces].flat()
  for (const namespace of wanted) opened.add(namespace)
  const [module] = await Promise.all([page, ...wanted.map((namespace) => loadTexts(i18next.language, namespace))])
  return module
}

async function loadTexts(language: string, namespace: string): Promise<void> {
  if (i18next.hasResourceBundle(language, namespace)) return
  const load = catalogues[`../pages/${namespace}/${language}.json`] ?? catalogues[`../ui/${namespace}/${language}.json`]
  const { default: texts } = await load!()
  i18next.addResourceBundle(language, namespace, texts)
}

export async function changeLanguage(language: Language): Promise<void> {
  const addFrameTexts = await loadFrameTexts(language)
  addFrameTexts()
  await Promise.all([loadErrorTexts(language), ...[...opened].map((namespace) => loadTexts(language, namespace))])
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
  store(storageKey, language)
}

function preferredLanguage(): Language {
  const wanted = [readStored(storageKey), ...navigator.languages].map((tag) => tag?.slice(0, 2))
  return (
    languages.find(({ code }) => code === wanted.find((one) => languages.some((known) => known.code === one)))?.code ??
    'en'
  )
}
