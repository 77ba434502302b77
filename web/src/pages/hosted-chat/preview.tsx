import { SegmentedControl } from '@mantine/core'
import { IconArrowUp, IconMessage } from '@tabler/icons-react'
import { type CSSProperties, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { accentColours, defaultColour } from '../../../visitor/page/colour.ts'
import styles from './hosted-chat.module.css'
import { linesOf, type SiteDraft } from './site-draft.ts'

/** How visitors see the chat with the settings of the form. */
export function Preview({ draft }: { draft: SiteDraft }) {
  const { t } = useTranslation('hosted-chat')
  const [scheme, setScheme] = useState<'light' | 'dark'>('light')
  const { fill, onFill, text } = accentColours(draft.colour ?? defaultColour, scheme)
  const colours = { '--fill': fill, '--on-fill': onFill, '--accent': text, colorScheme: scheme } as CSSProperties
  const schemes = (['light', 'dark'] as const).map((value) => ({ value, label: t(`preview.${value}`) }))
  return (
    <div className={styles['previewColumn']}>
      <SegmentedControl
        size="xs"
        data={schemes}
        value={scheme}
        onChange={(value) => setScheme(value as 'light' | 'dark')}
        aria-label={t('preview.label')}
      />
      <div className={styles['preview']} style={colours} role="img" aria-label={t('preview.label')}>
        <div className={styles['panel']}>
          <div className={styles['panelHeader']}>
            {draft.logo !== null && <img src={draft.logo} alt="" />}
            <strong dir="auto">{draft.title}</strong>
          </div>
          <div className={styles['panelBody']}>
            {draft.greeting !== '' && <p dir="auto">{draft.greeting}</p>}
            {linesOf(draft.suggestions)
              .slice(0, 6)
              .map((question, index) => (
                <span key={index} className={styles['suggestion']} dir="auto">
                  {question}
                </span>
              ))}
          </div>
          <div className={styles['field']}>
            <span>{t('preview.field')}</span>
            <span className={styles['round']}>
              <IconArrowUp size={16} aria-hidden />
            </span>
          </div>
        </div>
        <span className={styles['launcher']}>
          <IconMessage size={22} aria-hidden />
        </span>
      </div>
    </div>
  )
}
