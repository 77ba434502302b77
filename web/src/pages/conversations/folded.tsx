import '@mantine/core/styles/Spoiler.css'
import { Spoiler } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Texts above this height are folded, in pixels. */
const foldedHeight = 480

/** A long text, of which one sees the beginning first. */
export function Folded({ children }: { children: React.ReactNode }) {
  const { t } = useTranslation('conversations')
  return (
    <Spoiler maxHeight={foldedHeight} showLabel={t('turn.show')} hideLabel={t('turn.hide')}>
      {children}
    </Spoiler>
  )
}
