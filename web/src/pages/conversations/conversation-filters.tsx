import { Button, Group, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'
import { SearchField } from '../../ui/list-controls.tsx'
import { Select } from '../../ui/select.tsx'
import { type ConversationSearch, havings } from './routes.tsx'

const typingPauseMs = 400

interface ConversationFiltersProps {
  search: ConversationSearch
  onChange: (next: { [Name in keyof ConversationSearch]?: ConversationSearch[Name] | undefined }) => void
  /** Absent without a filter. */
  onClear: (() => void) | undefined
}

export function ConversationFilters({ search, onChange, onClear }: ConversationFiltersProps) {
  const { t } = useTranslation('conversations')
  const findUser = useDebouncedCallback(
    (user: string) => onChange({ user: user === '' ? undefined : user }),
    typingPauseMs,
  )
  const day = (name: 'from' | 'to') => (
    <TextInput
      type="date"
      label={t(`filter.${name}`)}
      value={search[name] ?? ''}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value || undefined })}
      w={140}
    />
  )
  return (
    <Group gap="sm" align="flex-end">
      <SearchField
        label={t('filter.search')}
        value={search.search}
        onChange={(text) => onChange({ search: text.trim() === '' ? undefined : text.trim() })}
      />
      <Select
        label={t('filter.having')}
        placeholder={t('filter.all')}
        data={havings.map((value) => ({ value, label: t(`filter.${value}`) }))}
        value={search.having ?? null}
        onChange={(having) => onChange({ having: having ?? undefined })}
        clearable
        w={{ base: '100%', xs: 190 }}
      />
      <TextInput
        key={search.user ?? ''}
        label={t('filter.user')}
        defaultValue={search.user ?? ''}
        onChange={({ currentTarget }) => findUser(currentTarget.value)}
        maxLength={128}
        w={{ base: '100%', xs: 180 }}
      />
      {day('from')}
      {day('to')}
      {onClear && (
        <Button variant="subtle" onClick={onClear}>
          {t('filter.clear')}
        </Button>
      )}
    </Group>
  )
}
