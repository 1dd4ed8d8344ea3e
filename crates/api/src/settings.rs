//! How kinds are treated, as the settings say.

use lynceus_object::Str;

use crate::wire::wire;

wire! {
    /// How a kind is treated. The structures in it stand as YAML text.
    pub struct ResourceOverride {
        /// A script that assesses health.
        optional health_lua: Str = "health.lua",
        /// Whether that script may use all libraries.
        optional health_lua_use_open_libs: bool = "health.lua.useOpenLibs",
        /// Actions that users may run: see [`ResourceActions`].
        optional actions: Str = "actions",
        /// Fields that are left out of the comparison: see [`OverrideIgnoreDiff`].
        optional ignore_differences: Str = "ignoreDifferences",
        /// Fields whose change does not start a reconciliation: see [`OverrideIgnoreDiff`].
        optional ignore_resource_updates: Str = "ignoreResourceUpdates",
        /// Fields that hold a built-in type.
        optional known_type_fields: Vec<KnownTypeField> = "knownTypeFields",
    }
}

wire! {
    /// Fields that are left out.
    pub struct OverrideIgnoreDiff {
        /// As JSON pointers.
        required json_pointers: Vec<Str> = "jsonPointers",
        /// As jq paths.
        required jq_path_expressions: Vec<Str> = "jqPathExpressions",
        /// By the field managers that own them.
        required managed_fields_managers: Vec<Str> = "managedFieldsManagers",
    }
}

wire! {
    /// A field that holds a built-in type.
    pub struct KnownTypeField {
        /// The field's path.
        optional field: Str = "field",
        /// The type, such as `core/v1/PodSpec`.
        optional type_: Str = "type",
    }
}

wire! {
    /// Actions that users may run on objects of a kind.
    pub struct ResourceActions {
        /// A script that says which actions an object has.
        optional discovery_lua: Str = "discovery.lua",
        /// The actions.
        optional definitions: Vec<ResourceActionDefinition> = "definitions",
        /// Whether built-in actions stay.
        optional merge_builtin_actions: bool = "mergeBuiltinActions",
    }
}

wire! {
    /// An action.
    pub struct ResourceActionDefinition {
        /// Its name.
        required name: Str = "name",
        /// The script that does it.
        required action_lua: Str = "action.lua",
    }
}

wire! {
    /// An action that an object has.
    pub struct ResourceAction {
        /// Its name.
        optional name: Str = "name",
        /// What it asks for.
        optional params: Vec<ResourceActionParam> = "params",
        /// Whether it cannot be run now.
        optional disabled: bool = "disabled",
        /// Its icon.
        optional icon_class: Str = "iconClass",
        /// What people call it.
        optional display_name: Str = "displayName",
    }
}

wire! {
    /// Something that an action asks for.
    pub struct ResourceActionParam {
        /// Its name.
        optional name: Str = "name",
    }
}

wire! {
    /// A plugin that renders manifests, as it was set up before sidecars.
    pub struct ConfigManagementPlugin {
        /// Its name.
        required name: Str = "name",
        /// Run before.
        optional init: Option<Command> = "init",
        /// Run to render.
        required generate: Command = "generate",
        /// Whether only one may run in a repository at a time.
        optional lock_repo: bool = "lockRepo",
    }
}

wire! {
    /// A program and its arguments.
    pub struct Command {
        /// The program.
        optional command: Vec<Str> = "command",
        /// Its arguments.
        optional args: Vec<Str> = "args",
    }
}

wire! {
    /// A parameter of a component.
    pub struct ComponentParameter {
        /// The component.
        optional component: Str = "component",
        /// The parameter.
        required name: Str = "name",
        /// Its value.
        required value: Str = "value",
    }
}
