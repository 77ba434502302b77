import { Button, Group, Pill, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import { Select } from '../../ui/select.tsx'
import { adminActions } from './actions.ts'
import type { AuditSearch } from './routes.tsx'

const typingPauseMs = 400
const subjectTypes = [
  'deployment',
  'document',
  'golden_question',
  'invitation',
  'model',
  'operator_token',
  'organisation',
  'person',
  'price',
  'provider',
  'secret_key',
  'space',
] as const

interface AuditFiltersProps {
  search: AuditSearch
  onChange: (next: AuditSearch) => void
  /** Absent without a filter. */
  onClear: (() => void) | undefined
}

export function AuditFilters({ search, onChange, onClear }: AuditFiltersProps) {
  const { t } = useTranslation('operator')
  const findActor = useDebouncedCallback(
    (actor: string) => onChange({ actor: actor.trim() === '' ? undefined : actor.trim() }),
    typingPauseMs,
  )
  const day = (name: 'from' | 'to') => (
    <TextInput
      type="date"
      label={t(`audit.${name}`)}
      value={search[name] ?? ''}
      onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
      w={140}
    />
  )
  return (
    <>
      <Group gap="sm" align="flex-end">
        <Select
          label={t('audit.action')}
          placeholder={t('list.all')}
          data={adminActions.map((value) => ({ value, label: t(`actions.${value}`) }))}
          value={search.action ?? null}
          onChange={(action) => onChange({ action: action ?? undefined })}
          clearable
          searchable
          w={{ base: '100%', xs: 220 }}
        />
        <Select
          label={t('audit.subjectType')}
          placeholder={t('list.all')}
          data={subjectTypes.map((value) => ({ value, label: t(`subjects.${value}`) }))}
          value={search.subjectType ?? null}
          onChange={(subjectType) => onChange({ subjectType: subjectType ?? undefined })}
          clearable
          w={150}
        />
        <TextInput
          key={search.actor ?? ''}
          label={t('audit.actor')}
          placeholder={t('audit.actorPlaceholder')}
          defaultValue={search.actor ?? ''}
          onChange={(event) => findActor(event.currentTarget.value)}
          w={{ base: '100%', xs: 210 }}
        />
        {day('from')}
        {day('to')}
        {onClear && (
          <Button variant="subtle" onClick={onClear}>
            {t('audit.clear')}
          </Button>
        )}
      </Group>
      {(search.organisationId ?? search.subjectId) !== undefined && (
        <Group gap="xs">
          {(['organisationId', 'subjectId'] as const).map((name) =>
            search[name] === undefined ? null : (
              <Pill
                key={name}
                withRemoveButton
                removeButtonProps={{ 'aria-label': t('audit.removeFilter'), tabIndex: 0, 'aria-hidden': false }}
                onRemove={() => onChange({ [name]: undefined })}
              >
                {t(`audit.${name}`, { id: search[name] })}
              </Pill>
            ),
          )}
        </Group>
      )}
    </>
  )
}
