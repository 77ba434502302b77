import { useTranslation } from 'react-i18next'

const endings = [
  'completed',
  'client_closed',
  'provider_failed',
  'budget_ended',
  'shutdown',
  'crashed',
  'unanswered',
  'failed',
] as const
export { endings }

const surfaces = ['gateway', 'space_chat', 'embeddings'] as const

/** Names of the values of a split, of surfaces and of endings. */
export function useNames() {
  const { t } = useTranslation('usage')
  const surface = (id: string) => {
    const known = surfaces.find((name) => name === id)
    return known ? t(`surface.${known}`) : id
  }
  return {
    surface,
    ending(id: string) {
      const known = endings.find((name) => name === id)
      return known ? t(`ending.${known}`) : id
    },
    /** The dimension: "Model", "User", "Tag team". */
    split(id: string) {
      if (id === 'model' || id === 'surface' || id === 'space' || id === 'user') return t(`split.${id}`)
      return t('split.metadata', { key: id.replace(/^metadata\./, '') })
    },
    value(split: string, { id, label }: { id: string | null; label: string | null }) {
      if (split === 'surface') return id === null ? '' : surface(id)
      if (split === 'space') return id === null ? t('noSpace') : (label ?? t('deletedSpace', { id: id.slice(0, 8) }))
      return id ?? t('noTag')
    },
  }
}
