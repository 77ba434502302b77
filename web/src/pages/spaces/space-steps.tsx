import type { SpaceListView } from '@contract/console-spaces.ts'
import { useTranslation } from 'react-i18next'
import { useRights } from '../../app/session.ts'
import { Checklist } from '../../ui/checklist.tsx'
import { ButtonLink } from '../../ui/link.tsx'

/** From a Space to its publication, while none of the Spaces of the list is published. Members do not publish. */
export function SpaceSteps({ organisationId, page }: { organisationId: string; page: SpaceListView }) {
  const { t } = useTranslation('spaces')
  const { isAdministrator } = useRights(organisationId)
  const { items, total } = page
  const filled = items.find(({ documents }) => documents.ready > 0)
  const space = filled ?? items[0]
  const isPublished = total > items.length || items.some(({ published }) => published)
  if (!space) return null
  const base = `/organisations/${organisationId}`
  const link = (to: string) => (
    <ButtonLink to={to as '/'} size="compact-sm" variant="light">
      {t('steps.open')}
    </ButtonLink>
  )
  const steps = [
    { label: t('steps.space'), isDone: true },
    { label: t('steps.files'), isDone: filled !== undefined, action: link(`${base}/spaces/${space.id}/files`) },
  ]
  const publication = [
    { label: t('steps.ask'), isDone: isPublished, action: link(`${base}/spaces/${space.id}/chat`) },
    { label: t('steps.publish'), isDone: isPublished, action: link(`${base}/published-spaces/${space.id}`) },
  ]
  return (
    <Checklist
      id="spaces"
      title={t('steps.title')}
      texts={{ done: t('steps.done'), open: t('steps.notDone'), dismiss: t('steps.dismiss') }}
      steps={isAdministrator ? [...steps, ...publication] : steps}
    />
  )
}
