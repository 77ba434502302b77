import { useTranslation } from 'react-i18next'
import { addTexts } from '../../i18n/translations.ts'
import { Page } from '../../ui/page.tsx'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }

addTexts('spaces', { en, de })

export function SettingsPage() {
  const { t } = useTranslation('spaces')
  return <Page title={t('layout.settings')}>{null}</Page>
}
